import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../../../server/index.js";

const TTL = 10_000;
const START = 1e12;

/** Processes on the same rows. One that waits asks for its turn when the test says so. */
function createProcesses() {
  const store = memoryStore();
  const clock = createManualClock(START);
  const limits = { work: { kind: "concurrency", slots: 2, ttl: TTL } } as const;
  return {
    clock,
    start() {
      let wake = () => {};
      const sleep = (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          wake = resolve;
          signal?.addEventListener("abort", () => resolve());
        });
      const limiter = createRateLimiter({ store, limits, clock, sleep });
      const places: number[] = [];
      return {
        limiter,
        places,
        enter: () => limiter.enter("work"),
        /** Resolves with the wait once the caller stands in line. */
        async join(signal?: AbortSignal) {
          let joined = () => {};
          const isJoined = new Promise<void>((resolve) => (joined = resolve));
          const entering = limiter.enter("work", {
            maxWait: Infinity,
            signal,
            onPlace(place) {
              places.push(place);
              joined();
            },
          });
          await isJoined;
          let answer: "waits" | "entered" = "waits";
          const slot = entering.then((result) => {
            answer = "entered";
            return result;
          });
          return {
            slot,
            /** Asks for its turn, and says what it got. */
            async ask() {
              await turn();
              wake();
              await turn();
              return answer;
            },
          };
        },
      };
    },
  };
}

/** Lets what is under way in this process go on. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

it("hands a slot that is released to the first in line, before another call sees it free", async () => {
  const { start } = createProcesses();
  const [holder, first, other] = [start(), start(), start()];
  const slot = await holder.enter();
  await holder.enter();
  const waiting = await first.join();
  if (slot.ok) await slot.release();
  expect(await other.enter()).toMatchObject({ ok: false, value: 0 });
  expect(await other.limiter.enter("work", { maxWait: 0 })).toMatchObject({ ok: false });
  expect(await waiting.ask()).toBe("entered");
});

it("keeps the slot of a dead holder for those who wait", async () => {
  const { start, clock } = createProcesses();
  const [holder, first, second, other] = [start(), start(), start(), start()];
  await holder.enter();
  clock.advance(TTL - 2000);
  await holder.enter();
  const [a, b] = [await first.join(), await second.join()];
  clock.advance(2500);
  expect(await other.enter()).toMatchObject({ ok: false, value: 0 });
  // The second one asks earlier, and does not pass the first one.
  expect(await b.ask()).toBe("waits");
  expect(await a.ask()).toBe("entered");
  expect(await b.ask()).toBe("waits");
  expect([first.places, second.places]).toEqual([[1], [2, 1]]);
});

it("passes over a caller in line who has died, and frees a slot that was handed to one", async () => {
  const { start, clock } = createProcesses();
  const [holder, dead, alive] = [start(), start(), start()];
  const slots = [await holder.enter(), await holder.enter()];
  await dead.join();
  if (slots[0]!.ok) await slots[0]!.release();
  // Handed to the dead one: free again after the time that a caller may be silent.
  const waiting = await alive.join();
  expect(await waiting.ask()).toBe("waits");
  clock.advance(5000);
  expect(await waiting.ask()).toBe("entered");
});

it("a caller who was passed over joins anew, and takes no slot of another", async () => {
  const { start, clock } = createProcesses();
  const [holder, late, other] = [start(), start(), start()];
  const slots = [await holder.enter(), await holder.enter()];
  const waiting = await late.join();
  if (slots[0]!.ok) await slots[0]!.release();
  clock.advance(5001);
  expect(await other.enter()).toMatchObject({ ok: true });
  expect(await waiting.ask()).toBe("waits");
  if (slots[1]!.ok) await slots[1]!.release();
  expect(await waiting.ask()).toBe("entered");
});

it("hands a slot on that came to a caller who has gone", async () => {
  const { start } = createProcesses();
  const [holder, gone, next] = [start(), start(), start()];
  const slots = [await holder.enter(), await holder.enter()];
  const abort = new AbortController();
  const leaving = await gone.join(abort.signal);
  const waiting = await next.join();
  if (slots[0]!.ok) await slots[0]!.release();
  abort.abort(new Error("gone"));
  await expect(leaving.slot).rejects.toThrow("gone");
  expect(await waiting.ask()).toBe("entered");
});

it("denies at once when a hundred wait", async () => {
  const { start } = createProcesses();
  const one = start();
  await one.enter();
  await one.enter();
  for (let i = 0; i < 100; i++) await start().join();
  expect(await one.limiter.enter("work", { maxWait: Infinity })).toMatchObject({ ok: false });
});
