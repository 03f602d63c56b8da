/** Callers of `acquire` who give up leave nothing behind that blocks other callers. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  isRateLimitError,
  memoryStore,
  MINUTE,
  SECOND,
} from "../../../../../server/index.js";
import { storesAndRedis } from "../../../../support/stores.js";

const limits = {
  minute: { kind: "token bucket", rate: 12, period: MINUTE },
  window: { kind: "fixed window", rate: 12, period: MINUTE, start: 0 },
  sharded: { kind: "token bucket", rate: 12, period: MINUTE, shards: 2 },
  second: { kind: "token bucket", rate: 1, period: SECOND },
  several: { kind: "token bucket", rate: 10, period: SECOND },
  models: { kind: "token bucket", rate: 40_000, period: MINUTE, capacity: 4000 },
  unreserved: { kind: "token bucket", rate: 2, period: SECOND, maxReserved: 0 },
} as const;

const REASON = new Error("gave up");

describe.each(storesAndRedis)("on %s", (_name, open) => {
  async function setUp(processes: number) {
    const opened = await open();
    const clock = createManualClock();
    const limiters = Array.from({ length: processes }, (_, i) => {
      const store = i % 2 === 0 ? opened.store : opened.peer;
      return createRateLimiter({ store, clock, sleep: clock.sleep, limits });
    });
    /** Until all that was sent is answered, and what follows from it. One round trip may overtake another. */
    async function rest(trips = 12): Promise<void> {
      for (let i = 0; i < trips; i++) {
        await Promise.all(limiters.map((each) => each.getValue("several", { key: "else" })));
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
    const dispose = () => opened[Symbol.asyncDispose]();
    return { clock, limiters, rest, [Symbol.asyncDispose]: dispose };
  }

  /** Starts a call. `state()` is "waiting", "served" or how it failed. */
  function start(
    limiter: Awaited<ReturnType<typeof setUp>>["limiters"][number],
    name: keyof typeof limits,
    options: { count?: number; maxWait?: number; once?: string } = {},
  ) {
    const controller = new AbortController();
    let state: unknown = "waiting";
    const call = limiter.acquire(name, { key: "u", signal: controller.signal, ...options }).then(
      () => void (state = "served"),
      (error: unknown) => {
        state = isRateLimitError(error) ? { retryAfter: error.data.rateLimit.retryAfter } : error;
      },
    );
    return { state: () => state, leave: () => controller.abort(REASON), ended: call };
  }

  /** Calls that come evenly, each leaving after a third of a minute. @returns those served, by minute. */
  async function servedOf(
    { clock, limiters, rest }: Awaited<ReturnType<typeof setUp>>,
    name: keyof typeof limits,
    perMinute: number,
  ): Promise<number[]> {
    const from = clock();
    const counts = Array.from({ length: MINUTES }, () => 0);
    const calls: { at: number; call: ReturnType<typeof start> }[] = [];
    for (let i = 0; i < perMinute * MINUTES; i++) {
      clock.set(from + (i * MINUTE) / perMinute);
      for (const { at, call } of calls) if (at + 20 * SECOND <= clock()) call.leave();
      const call = start(limiters[i % limiters.length]!, name);
      const count = () => {
        if (call.state() === "served") counts[Math.floor((clock() - from) / MINUTE)]!++;
      };
      calls.push({ at: clock(), call });
      void call.ended.then(count);
      await rest(4);
    }
    for (const { call } of calls) call.leave();
    await Promise.all(calls.map(({ call }) => call.ended));
    expect(new Set(calls.map(({ call }) => call.state()))).toEqual(new Set(["served", REASON]));
    return counts;
  }

  const MINUTES = 3;

  it.each([
    ["minute", 18, 1],
    ["minute", 24, 3],
    ["sharded", 18, 1],
  ] as const)(
    "of %s, %i callers a minute are served at the rate, in %i processes",
    async (...of) => {
      const [name, perMinute, processes] = of;
      await using setting = await setUp(processes);
      const counts = await servedOf(setting, name, perMinute);
      // The first minute also has what the full bucket held.
      for (const count of counts.slice(1)) expect(count).toBeGreaterThanOrEqual(11);
      const sum = counts.reduce((all, count) => all + count, 0);
      expect(sum).toBeLessThanOrEqual(12 + MINUTES * 12);
    },
  );

  it("forty callers who leave in their order owe nothing", async () => {
    await using setting = await setUp(1);
    const { limiters, rest, clock } = setting;
    const [limiter] = limiters as [(typeof limiters)[0]];
    await limiter.limit("second", { key: "u" });
    const calls = Array.from({ length: 40 }, () => start(limiter, "second"));
    await rest();
    for (const call of calls) {
      call.leave();
      await rest(2);
    }
    await Promise.all(calls.map((call) => call.ended));
    expect(calls.map((call) => call.state())).toEqual(calls.map(() => REASON));
    expect((await limiter.getValue("second", { key: "u" })).value).toBe(0);
    const next = start(limiter, "second");
    await rest();
    clock.advance(SECOND);
    await next.ended;
    expect(next.state()).toBe("served");
  });

  it("the turn of a caller who leaves is the next one's", async () => {
    await using setting = await setUp(2);
    const { limiters, rest, clock } = setting;
    const [limiter, peer] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
    await limiter.limit("second", { key: "u" });
    const [first, second] = [start(limiter, "second"), start(limiter, "second")];
    await rest();
    // Behind the first one, in another process.
    const third = start(peer, "second");
    await rest();
    first.leave();
    await rest();
    expect(first.state()).toBe(REASON);
    clock.advance(SECOND);
    await rest();
    expect([second.state(), third.state()]).toEqual(["served", "waiting"]);
    clock.advance(SECOND);
    await third.ended;
    expect(third.state()).toBe("served");
  });

  it("a caller is refused at once where the line before it is too long", async () => {
    await using setting = await setUp(1);
    const { limiters, rest, clock } = setting;
    const [limiter] = limiters as [(typeof limiters)[0]];
    await limiter.limit("several", { key: "u", count: 10 });
    const line = [5, 5, 5].map((count) => start(limiter, "several", { count }));
    await rest();
    const late = start(limiter, "several", { count: 5, maxWait: 1400 });
    const early = start(limiter, "several", { count: 5, maxWait: 2000 });
    await rest();
    await expect.poll(late.state).toEqual({ retryAfter: 600 });
    expect(early.state()).toBe("waiting");
    for (let i = 0; i < 40; i++) {
      clock.advance(50);
      await rest();
    }
    expect([...line, early].map((call) => call.state())).toEqual(Array(4).fill("served"));
  });

  it("so is one who came before anything was known of the line", async () => {
    await using setting = await setUp(1);
    const { limiters, rest } = setting;
    const [limiter] = limiters as [(typeof limiters)[0]];
    await limiter.limit("several", { key: "u", count: 10 });
    const line = [5, 5, 5].map((count) => start(limiter, "several", { count }));
    const late = start(limiter, "several", { count: 5, maxWait: 1400 });
    await rest();
    await expect.poll(late.state).toEqual({ retryAfter: 600 });
    for (const call of line) call.leave();
    await Promise.all(line.map(({ ended }) => ended));
  });

  it("a caller whose time is over leaves the line", async () => {
    await using setting = await setUp(2);
    const { limiters, rest, clock } = setting;
    const [limiter, peer] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
    await limiter.limit("second", { key: "u" });
    const first = start(limiter, "second");
    await rest();
    const second = start(limiter, "second", { maxWait: 2000 });
    await rest();
    // Not known to the line: another process takes what comes next.
    await peer.charge("second", { key: "u", count: 10 });
    clock.advance(1000);
    await rest();
    expect([first.state(), second.state()]).toEqual(["served", { retryAfter: 10_000 }]);
    expect((await limiter.getValue("second", { key: "u" })).value).toBe(-10);
  });

  it("an id belongs to its call: a turn of it is given back", async () => {
    await using setting = await setUp(1);
    const { limiters, rest, clock } = setting;
    const [limiter] = limiters as [(typeof limiters)[0]];
    await limiter.limit("second", { key: "u" });
    const [first, second] = [start(limiter, "second", { once: "a" }), start(limiter, "second")];
    await rest();
    first.leave();
    await first.ended;
    await rest();
    expect((await limiter.getValue("second", { key: "u" })).value).toBe(-1);
    const again = start(limiter, "second", { once: "a" });
    for (let i = 0; i < 5; i++) {
      await rest();
      clock.advance(SECOND);
    }
    expect([second.state(), again.state()]).toEqual(["served", "served"]);
    expect((await limiter.getValue("second", { key: "u" })).value).toBe(1);
  });

  it("callers move up when one before them settles for less", async () => {
    await using setting = await setUp(1);
    const { limiters, rest, clock } = setting;
    const [limiter] = limiters as [(typeof limiters)[0]];
    const from = clock();
    const turns: number[] = [];
    const calls = Array.from({ length: 5 }, async () => {
      const result = await limiter.acquire("models", { key: "u", count: 4000 });
      turns.push(clock() - from);
      await limiter.settle(result, 500);
    });
    // Its connection may have to be opened first.
    await expect.poll(() => turns.length).toBe(1);
    while (turns.length < 5 && clock() < from + MINUTE) {
      await rest();
      clock.advance(150);
    }
    await Promise.all(calls);
    // Each waits for the 500 tokens that the one before it has used: 750 ms, not the 6 s of an estimate.
    for (const [i, turn] of turns.entries()) expect(turn).toBeLessThanOrEqual(i * 900);
    expect(turns.every((turn, i) => turn >= i * 750)).toBe(true);
  });

  it("callers do not move up past a reservation of another process", async () => {
    await using setting = await setUp(2);
    const { limiters, rest, clock } = setting;
    const [limiter, peer] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
    const first = await limiter.acquire("models", { key: "u", count: 4000 });
    const left = async () => (await limiter.getValue("models", { key: "u" })).value;
    const other = start(peer, "models", { count: 2000 });
    await expect.poll(left).toBe(-2000);
    const second = start(limiter, "models", { count: 2000 });
    await expect.poll(left).toBe(-4000);
    await limiter.settle(first, 500);
    expect(await left()).toBe(-4000);
    clock.advance(3000);
    await rest();
    expect([other.state(), second.state()]).toEqual(["served", "waiting"]);
    clock.advance(3000);
    await second.ended;
    expect(second.state()).toBe("served");
  });

  it("callers of a limit without reservations are answered together", async () => {
    await using setting = await setUp(1);
    const { limiters, rest } = setting;
    const [limiter] = limiters as [(typeof limiters)[0]];
    const calls = Array.from({ length: 5 }, () => start(limiter, "unreserved"));
    await Promise.all(calls.map((call) => call.ended));
    await rest();
    expect(calls.filter((call) => call.state() === "served")).toHaveLength(2);
  });
});

it("callers fail together when the store does", async () => {
  const store = memoryStore();
  const clock = createManualClock();
  let isDown = false;
  let sent = 0;
  const failing = {
    apply: (decisions: Parameters<typeof store.apply>[0]) => {
      sent++;
      return isDown ? Promise.reject(new Error("no connection")) : store.apply(decisions);
    },
  };
  const limiter = createRateLimiter({
    store: failing as typeof store,
    clock,
    sleep: clock.sleep,
    logger: false,
    limits,
  });
  await limiter.limit("second");
  const calls = Array.from({ length: 5 }, async () => limiter.acquire("second"));
  const errors = Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  await expect.poll(() => clock.sleepers()).toBe(2);
  isDown = true;
  sent = 0;
  clock.advance(SECOND);
  expect((await errors).filter((error) => error instanceof Error)).toHaveLength(4);
  expect(sent).toBe(4);
});
