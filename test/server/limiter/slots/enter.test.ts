import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE } from "../../../../server/index.js";
import { createManualClock } from "../../../../core/testing.js";
import { storesAndRedis } from "../../../support/stores.js";

const TTL = 10_000;
const limits = {
  generations: { kind: "concurrency", slots: 2, ttl: TTL },
  tokens: { kind: "token bucket", rate: 10, period: MINUTE },
  jobs: { kind: "fixed window", rate: 10, period: "month", start: 0, holds: true },
} as const;

describe.each(storesAndRedis)("slots on %s", (_name, open) => {
  /** Two limiters on the same rows, as of two processes. Their clock only moves by hand. */
  async function opened(isTimeInWaits = false, random = Math.random) {
    const { store, peer, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    const clock = createManualClock(1e12);
    const sleep = async (ms: number) => {
      if (isTimeInWaits) clock.advance(ms);
      await new Promise((resolve) => setTimeout(resolve, 1));
    };
    const make = (of: typeof store) =>
      createRateLimiter({ store: of as never, limits, clock, sleep, random });
    return { limiter: make(store), other: make(peer), clock };
  }
  const key = "ada";

  it("lets as many callers in as there are slots, and the next one after a release", async () => {
    const { limiter, other } = await opened();
    const first = await limiter.enter("generations", { key });
    const second = await other.enter("generations", { key });
    expect([first.ok, second.ok]).toEqual([true, true]);
    const denied = await other.enter("generations", { key });
    expect(denied).toMatchObject({ ok: false, retryAfter: TTL, value: 0, name: "generations" });
    expect(await limiter.enter("generations", { key: "bob" })).toMatchObject({ ok: true });
    if (first.ok) await first.release();
    expect(await other.enter("generations", { key })).toMatchObject({ ok: true });
    expect(await limiter.enter("generations", { key })).toMatchObject({ ok: false });
  });

  it("frees the slot of a holder that is not heard of for a ttl, and not earlier", async () => {
    const { limiter, other, clock } = await opened();
    await limiter.enter("generations", { key });
    clock.advance(1);
    await limiter.enter("generations", { key });
    clock.advance(TTL - 2);
    expect(await other.enter("generations", { key })).toMatchObject({ ok: false, retryAfter: 1 });
    clock.advance(1);
    expect(await other.enter("generations", { key })).toMatchObject({ ok: true });
    expect(await other.enter("generations", { key })).toMatchObject({ ok: false, retryAfter: 1 });
  });

  it("frees a slot that was entered one ms after the ttl of a dead holder", async () => {
    const { limiter, other, clock } = await opened(false, () => 0.1);
    for (let i = 0; i < 2; i++) await limiter.enter("generations", { key });
    clock.advance(TTL + 1);
    const held = await other.enter("generations", { key });
    if (held.ok) await held.release();
    expect(await limiter.check("generations", { key })).toMatchObject({ ok: true, value: 2 });
  });

  it.each([
    [30_000, 5000],
    [600_000, 1000],
  ])(
    "waits for the ttl of the holder, %i ms, with one of its own of %i ms",
    async (long, short) => {
      const { limiter, other, clock } = await opened();
      const config = (ttl: number) => ({ kind: "concurrency", slots: 1, ttl }) as const;
      const call = { key, config: config(short) };
      await limiter.enter("generations", { key, config: config(long) });
      clock.advance(short + 1);
      expect(await other.enter("generations", call)).toMatchObject({ ok: false });
      clock.advance(long - short - 2);
      expect(await other.enter("generations", call)).toMatchObject({ ok: false, retryAfter: 1 });
      clock.advance(1);
      expect(await other.enter("generations", call)).toMatchObject({ ok: true });
      // The same in the other order: no caller waits for longer than the holder's ttl.
      clock.advance(short - 1);
      const later = { key, config: config(long) };
      expect(await limiter.enter("generations", later)).toMatchObject({ ok: false, retryAfter: 1 });
      clock.advance(1);
      expect(await limiter.enter("generations", later)).toMatchObject({ ok: true });
    },
  );

  it("a late release frees no other caller's slot", async () => {
    const { limiter, other, clock } = await opened();
    const late = await limiter.enter("generations", { key });
    clock.advance(2 * TTL);
    await other.enter("generations", { key });
    await other.enter("generations", { key });
    if (late.ok) await late.release();
    expect(await other.enter("generations", { key })).toMatchObject({ ok: false });
  });

  it("tells how many are free and when the next one can be", async () => {
    const { limiter, other, clock } = await opened();
    expect(await other.getValue("generations", { key })).toMatchObject({ value: 2 });
    await limiter.enter("generations", { key });
    clock.advance(100);
    await limiter.enter("generations", { key });
    expect(await other.check("generations", { key })).toEqual({
      ok: false,
      retryAfter: TTL - 100,
      value: 0,
    });
    const [snapshot] = await other.snapshots([{ name: "generations", key }]);
    expect(snapshot).toMatchObject({
      value: 0,
      config: { slots: 2, capacity: 2, starts: [1e12 + TTL, 1e12 + 100 + TTL] },
    });
    const { items } = await other.list("generations");
    expect(items).toMatchObject([{ key, value: 0 }]);
    await other.reset("generations", { key });
    expect(await limiter.check("generations", { key })).toMatchObject({ ok: true, value: 2 });
  });

  it("takes a slot and tokens together, or nothing", async () => {
    const { limiter } = await opened();
    const take = (count: number) =>
      limiter.enter("generations", { key, with: [{ name: "tokens", key, count }] });
    const left = async () => (await limiter.getValue("tokens", { key })).value;
    const first = await take(4);
    expect(first).toMatchObject({ ok: true, results: [{ ok: true, value: 6 }] });
    expect(await take(7)).toMatchObject({ ok: false, name: "tokens", results: [{ ok: false }] });
    expect(await limiter.check("generations", { key })).toMatchObject({ value: 1 });
    expect(await take(4)).toMatchObject({ ok: true });
    expect(await take(1)).toMatchObject({ ok: false, name: "generations" });
    expect(await left()).toBeCloseTo(2);
    // The tokens stay taken, and can be settled.
    if (first.ok) await limiter.settle(first.results[0]!, 1);
    expect(await left()).toBeCloseTo(5);
  });

  it("takes tokens that a lapsed hold gives back, together with its slot", async () => {
    const { limiter, other, clock } = await opened();
    const hold = { for: MINUTE, then: "release" } as const;
    await limiter.limit("jobs", { key, count: 10, once: "job", hold });
    const enter = () =>
      other.enter("generations", { key, with: [{ name: "jobs", key, count: 8 }] });
    expect(await enter()).toMatchObject({ ok: false, name: "jobs" });
    clock.advance(MINUTE);
    expect(await enter()).toMatchObject({ ok: true });
    expect(await limiter.getValue("jobs", { key })).toMatchObject({ value: 2, held: 0 });
  });

  it("hands a slot to those who wait, in the order in which they came", async () => {
    const { limiter, other } = await opened();
    const holders = [
      await limiter.enter("generations", { key }),
      await limiter.enter("generations", { key }),
    ];
    const order: string[] = [];
    const places: Record<string, number[]> = {};
    const waiting: Promise<void>[] = [];
    for (const [i, name] of ["a", "b", "c", "d"].entries()) {
      places[name] = [];
      const joined = new Promise<void>((resolve) => {
        const onPlace = (place: number) => {
          places[name]!.push(place);
          resolve();
        };
        const of = i % 2 === 0 ? limiter : other;
        const entering = of.enter("generations", { key, maxWait: Infinity, onPlace });
        waiting.push(
          entering.then(async (slot) => {
            order.push(name);
            // It does not pass those who wait.
            expect(await other.enter("generations", { key })).toMatchObject({ ok: false });
            if (slot.ok) await slot.release();
          }),
        );
      });
      await joined;
    }
    expect(await other.enter("generations", { key })).toMatchObject({ ok: false });
    if (holders[0]!.ok) await holders[0]!.release();
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b", "c", "d"]);
    expect(places["a"]).toEqual([1]);
    expect(places["d"]![0]).toBe(4);
  });

  it("denies a call whose wait is over, and gives up the place of one that is aborted", async () => {
    const { limiter, other } = await opened(true);
    const slot = await limiter.enter("generations", { key });
    await limiter.enter("generations", { key });
    const late = await other.enter("generations", { key, maxWait: 1000 });
    expect(late).toMatchObject({ ok: false, value: 0 });
    const abort = new AbortController();
    const aborted = limiter.enter("generations", {
      key,
      maxWait: Infinity,
      signal: abort.signal,
      onPlace: () => abort.abort(new Error("gone")),
    });
    await expect(aborted).rejects.toThrow("gone");
    if (slot.ok) await slot.release();
    expect(await other.enter("generations", { key })).toMatchObject({ ok: true });
    expect(await other.enter("generations", { key })).toMatchObject({ ok: false });
  });
});
