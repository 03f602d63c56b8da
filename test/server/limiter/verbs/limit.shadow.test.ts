/** `shadow`: a limit that decides on its rows as any other, reports, and denies no call. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  type DecisionEvent,
  memoryStore,
  MINUTE,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";

const few = { kind: "token bucket", rate: 6, period: MINUTE, capacity: 2 } as const;
const window = { kind: "fixed window", rate: 1, period: MINUTE, start: 0 } as const;
const limits = {
  few: { ...few, shadow: true },
  closing: { ...few, blockFor: 5 * MINUTE, shadow: true },
  window,
} as const;
const enforced = { few, closing: { ...few, blockFor: 5 * MINUTE }, window } as const;

describe.each(storesAndRedis)("a shadow on %s", (_, open) => {
  async function setUp() {
    const opened = await open();
    const clock = createManualClock();
    const events: DecisionEvent[] = [];
    const options = { clock, sleep: clock.sleep };
    const onDecision = (event: DecisionEvent) => void events.push(event);
    return {
      clock,
      events,
      limiter: createRateLimiter({ store: opened.store, ...options, limits, onDecision }),
      /** The same rows after the option was removed. */
      strict: createRateLimiter({ store: opened.peer, ...options, limits: enforced }),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  it("passes every call, and says what a limit that denies answers on the same rows", async () => {
    await using at = await setUp();
    for (let i = 0; i < 40; i++) {
      const name = i % 2 === 0 ? "few" : "closing";
      const strict = await at.strict.check(name);
      const shadowed = await at.limiter.check(name);
      const wait = { ok: false, retryAfter: strict.retryAfter };
      expect(shadowed.ok).toBe(true);
      expect(shadowed).toMatchObject(strict.ok ? strict : { value: strict.value, shadow: wait });
      if (strict.ok) expect(shadowed).not.toHaveProperty("shadow");
      const { ok, retryAfter, ...given } = await at.limiter.limit(name);
      expect([ok, retryAfter]).toEqual([true, undefined]);
      expect("shadow" in given).toBe(!strict.ok);
      at.clock.advance((i * 1777) % 9000);
    }
  });

  it("closes its rows like a limit that denies, which then tells the same wait", async () => {
    await using at = await setUp();
    await at.limiter.limit("closing", { count: 2 });
    const result = await at.limiter.limit("closing");
    const wait = { ok: false, retryAfter: 5 * MINUTE + 10 * SECOND };
    expect(result).toMatchObject({ ok: true, shadow: wait });
    expect(await at.strict.limit("closing")).toMatchObject(wait);
  });

  it("takes the tokens of a call that it would grant, and none of one that it would deny", async () => {
    await using at = await setUp();
    await at.limiter.limit("few", { count: 2 });
    for (let i = 0; i < 5; i++) await at.limiter.limit("few");
    expect(await at.strict.limit("few")).toMatchObject({ ok: false, retryAfter: 10 * SECOND });
    at.clock.advance(10 * SECOND);
    expect((await at.strict.limit("few")).ok).toBe(true);
  });

  it("never blocks the others of a limitAll, and is charged with them", async () => {
    await using at = await setUp();
    await at.limiter.limit("few", { count: 2 });
    const passed = await at.limiter.limitAll([{ name: "few" }, { name: "window" }]);
    expect(passed).toEqual({
      ok: true,
      results: [
        { ok: true, value: 0, ts: at.clock(), shadow: { ok: false, retryAfter: 10 * SECOND } },
        { ok: true, value: 0, ts: at.clock() },
      ],
    });
    at.clock.advance(10 * SECOND);
    // One that denies is named, with its own wait, though the shadow would have to wait as well.
    const denied = await at.limiter.limitAll([{ name: "few", count: 2 }, { name: "window" }]);
    expect(denied).toMatchObject({ ok: false, name: "window", retryAfter: 50 * SECOND });
    expect(await at.limiter.getValue("few")).toMatchObject({ value: 1 });
    await expect(
      at.limiter.limitAll([{ name: "few", count: 2 }], { throws: true }),
    ).resolves.toMatchObject({ ok: true });
  });

  it("never throws and never waits: with throws, in acquire, with a reservation", async () => {
    await using at = await setUp();
    await at.limiter.limit("few", { count: 2, throws: true });
    await expect(at.limiter.limit("few", { throws: true })).resolves.toMatchObject({ ok: true });
    const reserved = await at.limiter.limit("few", { reserve: true });
    const wait = { ok: true, retryAfter: 10 * SECOND };
    expect(reserved).toMatchObject({ ok: true, value: -1, shadow: wait });
    expect(reserved.retryAfter).toBeUndefined();
    // The clock stands still, so a sleep would never end.
    expect(await at.limiter.acquire("few")).toMatchObject({ ok: true, shadow: { ok: true } });
    const late = await at.limiter.acquire("few", { maxWait: 5 * SECOND });
    expect(late).toMatchObject({ ok: true, shadow: { ok: false } });
  });

  it("gives back or settles what it took, and nothing for a call that it would have denied", async () => {
    await using at = await setUp();
    const taken = await at.limiter.limit("few", { count: 2 });
    const over = await at.limiter.limit("few", { count: 2 });
    await at.limiter.settle(over, 0);
    await at.limiter.settle(over, 50);
    await at.limiter.refund("few", { count: 2, result: over });
    expect(await at.limiter.getValue("few")).toMatchObject({ value: 0 });
    const reserved = await at.limiter.limit("few", { reserve: true });
    await at.limiter.settle(reserved, 0);
    expect(await at.limiter.getValue("few")).toMatchObject({ value: 0 });
    await at.limiter.settle(taken, 0.5);
    expect(await at.limiter.getValue("few")).toMatchObject({ value: 1.5 });
  });
});

describe("a shadow", () => {
  async function setUp() {
    const store = memoryStore();
    const clock = createManualClock();
    const events: DecisionEvent[] = [];
    const onDecision = (event: DecisionEvent) => void events.push(event);
    return { clock, events, limiter: createRateLimiter({ store, clock, limits, onDecision }) };
  }

  it("reports to onDecision the answer that the caller gets, with what it would have done", async () => {
    const { limiter, events } = await setUp();
    await limiter.limit("few", { count: 2 });
    await limiter.check("few");
    const answer = await limiter.limit("few");
    await limiter.limitAll([{ name: "few" }, { name: "window" }]);
    expect(
      events.map(({ action, name, result }) => [action, name, result.ok && result.shadow?.ok]),
    ).toEqual([
      ["limit", "few", undefined],
      ["check", "few", false],
      ["limit", "few", false],
      ["limit", "few", false],
      ["limit", "window", undefined],
    ]);
    expect(events[2]!.result).toBe(answer);
  });

  it("took nothing in a check, so a check has nothing to settle", async () => {
    const { limiter } = await setUp();
    await limiter.limit("few", { count: 2 });
    for (const reserve of [false, true]) {
      const checked = await limiter.check("few", { reserve });
      await expect(limiter.settle(checked, 0)).rejects.toThrow("a call that took tokens");
    }
    expect(await limiter.getValue("few")).toMatchObject({ value: 0 });
  });

  it("still rejects where the store fails", async () => {
    const broken: RateLimitStore = { apply: () => Promise.reject(new Error("down")) };
    const failing = createRateLimiter({ store: broken, limits, logger: false });
    await expect(failing.limit("few")).rejects.toThrow("down");
  });

  it("stays one for calls with a config of their own, unless that says otherwise", async () => {
    const { limiter } = await setUp();
    const config = { ...few, capacity: 1 };
    await limiter.limit("few", { config });
    expect(await limiter.limit("few", { config })).toMatchObject({ ok: true, shadow: {} });
    const own = { ...config, shadow: false };
    expect(await limiter.limit("few", { config: own })).toMatchObject({ ok: false });
  });
});
