/** `rememberDenials`: which calls a process denies from memory, and when it stops. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  type DecisionEvent,
  memoryStore,
  MINUTE,
  RateLimitError,
  type RateLimiterOptions,
  SECOND,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

// The limiter's clock is a manual one. This one bounds how long a denial is remembered.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const few = { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 } as const;
const limits = {
  few: { ...few, rememberDenials: MINUTE },
  briefly: { ...few, rememberDenials: 2 * SECOND },
  never: few,
  window: { kind: "fixed window", rate: 3, period: MINUTE, start: 0, rememberDenials: DAY },
  month: { kind: "fixed window", rate: 3, period: "month", start: 0, rememberDenials: DAY },
  owing: { ...few, maxReserved: 5, rememberDenials: MINUTE },
  shadow: { ...few, shadow: true, rememberDenials: MINUTE },
  split: { ...few, shards: 4, rememberDenials: MINUTE },
  closing: { ...few, blockFor: 20 * SECOND, rememberDenials: MINUTE },
} as const;

type Given = "channel" | "hashKey" | "onDecision" | "rememberDenials" | "store" | "timeout";

/** Two limiters on one store, as of two processes. The first one gets `options`. */
function createPair(options: Partial<Pick<RateLimiterOptions<typeof limits>, Given>> = {}) {
  const clock = createManualClock(Date.UTC(2030, 0, 1));
  const shared = { store: memoryStore(), clock, limits };
  const limiter = createRateLimiter({ ...shared, ...options });
  return { limiter, other: createRateLimiter(shared), clock };
}

describe.each(storesAndRedis)("a denial on %s", (_, open) => {
  it("is repeated until its wait has passed, with what the row would answer at each ms", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    for (const name of ["few", "window", "month", "owing"] as const) {
      const reserve = name === "owing";
      const first = name === "window" || name === "month" ? 3 : reserve ? 15 : 10;
      await limiter.limit(name, { count: first, reserve });
      const denied = await limiter.limit(name, { count: 2, reserve });
      expect(denied).not.toHaveProperty("remembered");
      for (let i = 0; i < 4; i++) {
        for (const count of [2, 3]) {
          const known = await limiter.limit(name, { count, reserve });
          const { remembered, ...told } = known as { remembered?: true };
          expect(remembered).toBe(true);
          expect(told).toEqual(await limiter.check(name, { count, reserve }));
        }
        clock.advance(333);
      }
      const last = await limiter.limit(name, { count: 2, reserve });
      clock.advance(last.retryAfter! - 1);
      expect(await limiter.limit(name, { count: 2, reserve })).toMatchObject({
        ok: false,
        retryAfter: 1,
        remembered: true,
      });
      clock.advance(1);
      expect((await limiter.limit(name, { count: 2, reserve })).ok).toBe(true);
    }
  });

  it("is told to the page with the wait and the tokens of the present instant", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    await limiter.limit("few", { count: 10 });
    await limiter.limit("few");
    clock.advance(400);
    const error: unknown = await limiter.limit("few", { throws: true }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RateLimitError);
    const { rateLimit } = (error as RateLimitError).data;
    expect(rateLimit).toMatchObject({
      retryAfter: 600,
      value: expect.closeTo(0.4, 9),
      now: clock(),
    });
    expect(rateLimit.config).not.toHaveProperty("rememberDenials");
  });
});

describe("a denial that is remembered", () => {
  it("lasts no longer than `rememberDenials`, whatever is done to the limiter's clock", async () => {
    const { limiter, clock } = createPair();
    await limiter.limit("briefly", { count: 10 });
    await limiter.limit("briefly", { count: 10 });
    clock.advance(-DAY);
    vi.advanceTimersByTime(2 * SECOND - 1);
    expect(await limiter.limit("briefly", { count: 10 })).toHaveProperty("remembered");
    vi.advanceTimersByTime(1);
    expect(await limiter.limit("briefly", { count: 10 })).not.toHaveProperty("remembered");
  });

  it("lasts so long from when its call was sent, however late its answer is", async () => {
    const { apply, ...rest } = memoryStore();
    const late: typeof apply = async (...args) => {
      const results = await apply(...args);
      vi.advanceTimersByTime(SECOND);
      return results;
    };
    const { limiter } = createPair({ store: { ...rest, apply: late } });
    await limiter.limit("briefly", { count: 10 });
    await limiter.limit("briefly", { count: 10 });
    vi.advanceTimersByTime(SECOND - 1);
    expect(await limiter.limit("briefly", { count: 10 })).toHaveProperty("remembered");
    vi.advanceTimersByTime(1);
    expect(await limiter.limit("briefly", { count: 10 })).not.toHaveProperty("remembered");
  });

  it("is too strict for that time after another process has given tokens back", async () => {
    const { limiter, other } = createPair();
    const taken = await other.limit("few", { count: 10 });
    await limiter.limit("few");
    await other.refund("few", { count: 10, result: taken });
    expect(await limiter.limit("few")).toMatchObject({ ok: false, remembered: true });
    expect((await limiter.check("few")).ok).toBe(true);
    expect(await limiter.snapshots([{ name: "few" }])).toMatchObject([{ value: 10 }]);
    vi.advanceTimersByTime(MINUTE);
    expect((await limiter.limit("few")).ok).toBe(true);
  });

  it("is of that count or more, and a denied reservation covers plain calls", async () => {
    const { limiter } = createPair();
    await limiter.limit("owing", { count: 7 });
    await limiter.limit("owing", { count: 5 });
    expect(await limiter.limit("owing", { count: 6 })).toHaveProperty("remembered");
    // Another process may know more of a smaller count, and a reservation may owe its tokens.
    expect(await limiter.limit("owing", { count: 4 })).toEqual(
      await limiter.check("owing", { count: 4 }),
    );
    const owed = await limiter.limit("owing", { count: 9, reserve: true });
    expect(owed).toMatchObject({ ok: false });
    expect(owed).not.toHaveProperty("remembered");
    expect((await limiter.limit("owing", { count: 3 })).ok).toBe(true);
    expect((await limiter.limit("owing", { count: 5, reserve: true })).ok).toBe(true);
    const denied = await limiter.limit("owing", { count: 1, reserve: true });
    expect(denied).toMatchObject({ ok: false });
    expect(denied).not.toHaveProperty("remembered");
    expect(await limiter.limit("owing")).toHaveProperty("remembered");
    expect(await limiter.limit("owing", { reserve: true })).toHaveProperty("remembered");
  });

  it("answers `limit` alone: not check, acquire, limitAll, nor calls in transactions", async () => {
    const { limiter, other } = createPair();
    await limiter.limit("few", { count: 10 });
    await limiter.limit("few");
    await other.reset("few");
    expect((await limiter.check("few")).ok).toBe(true);
    expect(await limiter.limit("few")).toHaveProperty("remembered");
    expect((await limiter.transaction(({ limit }) => limit("few"))).ok).toBe(true);

    await limiter.limit("few", { count: 9 });
    await limiter.limit("few");
    await other.reset("few");
    expect((await limiter.limitAll([{ name: "few" }])).ok).toBe(true);

    await limiter.limit("owing", { count: 15, reserve: true });
    await limiter.limit("owing", { reserve: true });
    await other.reset("owing");
    expect((await limiter.acquire("owing")).ok).toBe(true);
  });

  it("is not made by what a transaction is told, or by a wait that is too long for acquire", async () => {
    const { limiter } = createPair();
    await limiter.limit("owing", { count: 10 });
    await expect(limiter.acquire("owing", { maxWait: 0 })).rejects.toThrow(RateLimitError);
    expect((await limiter.limit("owing", { reserve: true })).ok).toBe(true);
    await limiter.transaction(({ limit }) => limit("owing"));
    expect(await limiter.limit("owing")).not.toHaveProperty("remembered");
  });

  it("does not exist for a shadow, for 0 ms, and by default", async () => {
    const { limiter } = createPair();
    const off = { ...few, rememberDenials: 0 };
    for (const name of ["shadow", "never"] as const) {
      await limiter.limit(name, { count: 10 });
      for (let i = 0; i < 3; i++) {
        expect(await limiter.limit(name)).not.toHaveProperty("remembered");
      }
    }
    expect(await limiter.limit("shadow")).toHaveProperty("shadow");
    for (let i = 0; i < 12; i++) {
      expect(await limiter.limit("few", { config: off })).not.toHaveProperty("remembered");
    }
  });

  it("is of the whole limit if that has shards", async () => {
    const { limiter } = createPair();
    const one = { count: 1 };
    while ((await limiter.limit("split", one)).ok);
    for (let i = 0; i < 20; i++) {
      expect(await limiter.limit("split", one)).toMatchObject({ ok: false, remembered: true });
    }
    await limiter.reset("split");
    expect((await limiter.limit("split", one)).ok).toBe(true);
  });

  it("changes nothing about blockFor: only while the bucket is closed is it repeated", async () => {
    const { limiter, other, clock } = createPair();
    await limiter.limit("closing", { count: 10 });
    expect(await limiter.limit("closing")).toMatchObject({ retryAfter: 21 * SECOND });
    clock.advance(20 * SECOND - 1);
    const last = { remembered: true, retryAfter: SECOND + 1 };
    expect(await limiter.limit("closing")).toMatchObject(last);
    clock.advance(501);
    // Another process grants a smaller call, so the next denial closes the bucket once more.
    expect((await other.limit("closing", { count: 0.1 })).ok).toBe(true);
    const again = await limiter.limit("closing");
    expect(again).toMatchObject({ retryAfter: 21 * SECOND });
    expect(again).not.toHaveProperty("remembered");
    expect(await limiter.limit("closing")).toHaveProperty("remembered");
  });

  it("is for a call with its own `rememberDenials` no older than that", async () => {
    const { limiter } = createPair();
    const config = { ...few, rememberDenials: SECOND };
    await limiter.limit("few", { count: 10 });
    await limiter.limit("few");
    vi.advanceTimersByTime(SECOND - 1);
    expect(await limiter.limit("few", { config })).toHaveProperty("remembered");
    vi.advanceTimersByTime(1);
    expect(await limiter.limit("few", { config })).not.toHaveProperty("remembered");
  });

  it("is reported to onDecision as it is", async () => {
    const events: DecisionEvent[] = [];
    const { limiter } = createPair({ onDecision: (event) => void events.push(event) });
    await limiter.limit("few", { key: "ada", count: 10 });
    await limiter.limit("few", { key: "ada" });
    const known = await limiter.limit("few", { key: "ada", count: 2 });
    expect(events.at(-1)).toEqual({
      action: "limit",
      name: "few",
      key: "ada",
      count: 2,
      result: known,
      capacity: 10,
      share: 1,
    });
    expect(events.map(({ result }) => "remembered" in result)).toEqual([false, false, true]);
  });
});

describe("the option", () => {
  const store = memoryStore();

  it("of the limiter is for all limits that do not set their own", async () => {
    const limiter = createRateLimiter({
      store,
      rememberDenials: MINUTE,
      limits: { first: few, second: { ...few, rememberDenials: 0 } },
    });
    for (const [name, isRemembered] of [
      ["first", true],
      ["second", false],
    ] as const) {
      await limiter.limit(name, { count: 10 });
      await limiter.limit(name, { count: 10 });
      const { remembered = false } = (await limiter.limit(name, { count: 10 })) as {
        remembered?: boolean;
      };
      expect(remembered).toBe(isRemembered);
    }
  });
});
