/** Lines of callers, while the store is slow: the order of turns, and the tokens that come back. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitStore,
  SECOND,
} from "../../../../../server/index.js";
import { insideOf } from "../../../../../server/limiter/parts/inside.js";

const limits = {
  second: { kind: "token bucket", rate: 1, period: SECOND },
  several: { kind: "token bucket", rate: 10, period: SECOND },
  many: { kind: "token bucket", rate: 100, period: SECOND },
  held: { kind: "token bucket", rate: 10, period: SECOND, holds: true },
  shadow: { kind: "token bucket", rate: 1, period: MINUTE, shadow: true },
} as const;

async function rest(): Promise<void> {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A store that answers when the test lets it. */
function setUp() {
  const store = memoryStore();
  const clock = createManualClock();
  const waiting: (() => void)[] = [];
  const at = { isSlow: false };
  const apply: RateLimitStore["apply"] = async (...args) => {
    if (at.isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
    return store.apply(...args);
  };
  const limiter = createRateLimiter({
    store: { ...store, apply },
    clock,
    sleep: clock.sleep,
    limits,
    timeout: 60_000,
    logger: false,
  });
  /** Answers the oldest of what was sent. */
  const answer = async () => {
    waiting.shift()?.();
    await rest();
  };
  const answerAll = async () => {
    at.isSlow = false;
    for (const resolve of waiting.splice(0)) resolve();
    await rest();
  };
  /** `state()` is "waiting", "served" or how it failed. */
  function start(name: keyof typeof limits, given: { count?: number; maxWait?: number } = {}) {
    const controller = new AbortController();
    let state: unknown = "waiting";
    const call = limiter.acquire(name, { key: "u", signal: controller.signal, ...given }).then(
      () => void (state = "served"),
      (error: Error) => void (state = error.message),
    );
    return { state: () => state, leave: () => controller.abort(new Error("left")), ended: call };
  }
  return Object.assign(at, { limiter, clock, waiting, answer, answerAll, start });
}

describe("a turn that is free", () => {
  it("goes to no caller for whom it comes too late", async () => {
    const at = setUp();
    await at.limiter.limit("second", { key: "u" });
    const first = at.start("second");
    await rest();
    at.isSlow = true;
    const hurried = at.start("second", { maxWait: 10 });
    first.leave();
    await rest();
    await at.answerAll();
    at.clock.advance(10);
    await rest();
    expect(hurried.state()).toMatch(/exceeded/);
    expect((await at.limiter.getValue("second", { key: "u" })).value).toBeCloseTo(0.01, 6);
  });
});

describe("tokens that come back", () => {
  it("leave the callers who join meanwhile in one line", async () => {
    const at = setUp();
    const first = await at.limiter.acquire("several", { key: "u" });
    at.isSlow = true;
    const second = at.start("several");
    const settled = at.limiter.settle(first, 0);
    await rest();
    await at.answer();
    expect(second.state()).toBe("served");
    const third = at.start("several", { count: 10 });
    await rest();
    await at.answer();
    await settled;
    await at.answer();
    // One that joins now comes behind it.
    const { lines } = insideOf(at.limiter).context;
    expect(lines!.size).toBe(1);
    const fourth = at.start("several", { count: 10 });
    await rest();
    expect(at.waiting).toHaveLength(0);
    third.leave();
    await rest();
    await at.answerAll();
    at.clock.advance(100);
    await rest();
    expect([third.state(), fourth.state()]).toEqual(["left", "served"]);
    expect([lines!.size, at.clock.sleepers()]).toEqual([0, 0]);
  });

  it("are not lost to a reservation that is due at the same time", async () => {
    const at = setUp();
    const first = await at.limiter.acquire("many", { key: "u", count: 100 });
    const line = Array.from({ length: 12 }, () => at.start("many", { count: 2 }));
    await rest();
    at.isSlow = true;
    at.clock.advance(20);
    await rest();
    // A reservation is on its way, and the next ones are due when it is answered.
    expect(at.waiting).toHaveLength(1);
    const settled = at.limiter.settle(first, 0);
    await rest();
    at.clock.advance(30);
    for (let i = 0; i < 30; i++) await at.answer();
    await settled;
    expect(line.map((call) => call.state())).toEqual(line.map(() => "served"));
    await at.answerAll();
    expect((await at.limiter.getValue("many", { key: "u" })).value).toBe(100 - 24);
  });

  it("go back together, and fail together", async () => {
    const at = setUp();
    const served = [];
    for (let i = 0; i < 10; i++) {
      served.push(await at.limiter.acquire("several", { key: "u", count: 1 }));
    }
    const next = at.start("several", { count: 10 });
    await rest();
    at.isSlow = true;
    const settled = Promise.all(served.map((result) => at.limiter.settle(result, 0)));
    await rest();
    let trips = 0;
    for (; at.waiting.length > 0; trips++) await at.answer();
    await settled;
    expect(trips).toBeLessThanOrEqual(2);
    expect(next.state()).toBe("served");
  });
});

describe("a caller who holds its tokens under an id", () => {
  const hold = { for: MINUTE, then: "release" } as const;
  async function movedUp() {
    const at = setUp();
    const { limiter } = at;
    const first = await limiter.acquire("held", { key: "u", count: 10 });
    const acquiring = limiter.acquire("held", { key: "u", count: 5, once: "job", hold });
    await rest();
    await limiter.settle(first, 0);
    const value = async () => {
      const { value: left, held } = await limiter.getValue("held", { key: "u" });
      return [left, held];
    };
    return { ...at, value, result: await acquiring };
  }

  it("still holds them when it has moved up, and ends the hold once", async () => {
    const { limiter, result, value } = await movedUp();
    expect(await value()).toEqual([5, 5]);
    await limiter.settle(result, 1);
    expect(await value()).toEqual([9, 0]);
    expect(await limiter.release("held", { key: "u", once: "job" })).toEqual({
      released: false,
      reason: "settled",
    });
    expect(await value()).toEqual([9, 0]);
  });

  it("gives nothing back past those who have come behind it", async () => {
    const { limiter, result, value } = await movedUp();
    await limiter.limit("held", { key: "u", count: 9, reserve: true });
    await limiter.settle(result, 0);
    // The debt tells the caller behind it of its turn.
    expect(await value()).toEqual([-4, 0]);
  });
});

describe("callers before others", () => {
  it("do not make a limit deny that only reports", async () => {
    const at = setUp();
    at.isSlow = true;
    const calls = [];
    for (let i = 0; i < 5; i++) {
      calls.push(at.start("shadow", { maxWait: 10 }), at.start("shadow", { maxWait: 10 }));
      await rest();
      await at.answer();
    }
    await at.answerAll();
    expect(calls.map((call) => call.state())).toEqual(calls.map(() => "served"));
  });
});
