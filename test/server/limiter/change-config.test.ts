/** A change of plan on every store: what was used stays used, from the moment of the change. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  changeDigest,
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitConfig,
} from "../../../server/index.js";
import { configDigest } from "../../../server/changes/config-digest.js";
import { stores, storesAndRedis } from "../../support/stores.js";

const daily = { kind: "fixed window", period: DAY, start: 0 } as const;
const free = { ...daily, rate: 5 } as const;
const pro = { ...daily, rate: 50 } as const;
const bucket = { kind: "token bucket", rate: 10, period: MINUTE } as const;
const limits = {
  pictures: free,
  calls: bucket,
  shared: { ...bucket, rate: 40, shards: 4 },
  credits: { kind: "credits" },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const user = { key: "ada" } as const;

async function opened(open: (typeof stores)[number][1]) {
  const { store, peer, [Symbol.asyncDispose]: close } = await open();
  const clock = createManualClock(20_000 * DAY + 10 * HOUR);
  const make = (of: typeof store) => createRateLimiter({ store: of, clock, limits });
  return { clock, limiter: make(store), other: make(peer), [Symbol.asyncDispose]: close };
}

describe.each(storesAndRedis)("a change of plan on %s", (_, open) => {
  const setUp = () => opened(open);

  it("leaves 45 of 50 to a customer who has used 5 of 5, at once and in every process", async () => {
    await using at = await setUp();
    await at.limiter.limit("pictures", { ...user, count: 5 });
    const denied = await at.limiter.limit("pictures", { ...user, config: pro });
    expect(denied).toMatchObject({ ok: false, retryAfter: 14 * HOUR });
    expect(await at.limiter.changeConfig("pictures", { ...user, to: pro })).toEqual({ value: 45 });
    const next = await at.other.limit("pictures", { ...user, config: pro });
    expect(next).toMatchObject({ ok: true, value: 44 });
    // The next window has no more than others.
    at.clock.advance(14 * HOUR);
    expect((await at.other.getValue("pictures", { ...user, config: pro })).value).toBe(50);
  });

  it("gives one who is downgraded no fresh start", async () => {
    await using at = await setUp();
    await at.limiter.limit("pictures", { ...user, config: pro, count: 20 });
    expect(await at.limiter.changeConfig("pictures", { ...user, from: pro })).toEqual({
      value: -15,
    });
    expect(await at.other.limit("pictures", user)).toMatchObject({ ok: false });
    expect(await at.other.changeConfig("pictures", { ...user, to: pro })).toEqual({ value: 30 });
  });

  it("spreads over the shards of a limit", async () => {
    await using at = await setUp();
    await at.limiter.limit("shared", { ...user, count: 15 });
    const to = { ...limits.shared, rate: 100 };
    expect(await at.limiter.changeConfig("shared", { ...user, to })).toEqual({ value: 85 });
    // Two shards have as much together.
    const granted = await at.other.limit("shared", { ...user, config: to, count: 42 });
    expect(granted).toMatchObject({ ok: true });
    const whole = { ...bucket, rate: 20 };
    const moved = await at.other.changeConfig("shared", { ...user, from: to, to: whole });
    expect(moved.value).toBeCloseTo(20 - 57, 6);
  });

  it("grants no more than the larger capacity to calls that come meanwhile", async () => {
    await using at = await setUp();
    let granted = 0;
    const call = async (config: RateLimitConfig, limiter = at.limiter) => {
      if ((await limiter.limit("calls", { ...user, config })).ok) granted++;
    };
    const larger = { ...bucket, rate: 30 };
    // The old plan asks until the change, and the new one from then on, in two processes.
    const before = Array.from({ length: 20 }, (__, i) =>
      call(bucket, i % 2 ? at.other : at.limiter),
    );
    const change = at.limiter.changeConfig("calls", { ...user, to: larger });
    await Promise.all([...before, change]);
    await Promise.all(
      Array.from({ length: 40 }, (__, i) => call(larger, i % 2 ? at.other : at.limiter)),
    );
    expect(granted).toBeLessThanOrEqual(30);
    expect(granted).toBeGreaterThanOrEqual(10);
  });
});

it.each(stores)("is a part of the transaction that changes the plan, on %s", async (_, open) => {
  await using at = await opened(open);
  await at.limiter.limit("pictures", { ...user, count: 5 });
  const plan = (isPaid: boolean) =>
    at.limiter.transaction(async ({ tx, changeConfig, limit }) => {
      expect(await changeConfig("pictures", { ...user, to: pro })).toEqual({ value: 45 });
      expect(await limit("pictures", { ...user, config: pro })).toMatchObject({ value: 44 });
      const joined = at.limiter.using(tx);
      expect((await joined.getValue("pictures", { ...user, config: pro })).value).toBe(44);
      if (!isPaid) throw new Error("the payment has failed");
    });
  await expect(plan(false)).rejects.toThrow("the payment has failed");
  expect((await at.other.getValue("pictures", { ...user, config: pro })).value).toBe(0);
  await plan(true);
  expect((await at.other.getValue("pictures", { ...user, config: pro })).value).toBe(44);
});

describe("a change of plan", () => {
  const NOW = 20_000 * DAY;
  const setUp = (options: object = {}) => {
    const clock = createManualClock(NOW);
    const store = memoryStore();
    const make = () => createRateLimiter({ store, clock, limits, ...options });
    return { clock, limiter: make(), other: make() };
  };

  it("is told to open pages, and ends denials that are remembered", async () => {
    const { limiter } = setUp({ rememberDenials: MINUTE });
    await limiter.limit("pictures", { ...user, count: 5 });
    expect(await limiter.limit("pictures", user)).toMatchObject({ ok: false });
    expect(await limiter.limit("pictures", user)).toMatchObject({ remembered: true });
    const heard: string[] = [];
    limiter.onChange((digest) => void heard.push(digest));
    await limiter.changeConfig("pictures", { ...user, to: pro });
    expect(heard).toEqual([
      changeDigest("pictures", "ada"),
      // The config of its callers may be another one.
      configDigest("pictures", "ada"),
    ]);
    expect(await limiter.limit("pictures", user)).not.toHaveProperty("remembered");
  });

  it("writes nothing for a key without a row", async () => {
    const { limiter } = setUp();
    expect(await limiter.changeConfig("pictures", { ...user, to: pro })).toEqual({ value: 50 });
    expect((await limiter.list("pictures")).items).toEqual([]);
  });

  it("keeps the ids of calls, which get their first answer", async () => {
    const { limiter } = setUp();
    await limiter.limit("pictures", { ...user, once: "order 1" });
    await limiter.changeConfig("pictures", { ...user, to: pro });
    const again = await limiter.limit("pictures", { ...user, config: pro, once: "order 1" });
    expect(again).toMatchObject({ ok: true, repeated: true, value: 4 });
    expect((await limiter.getValue("pictures", { ...user, config: pro })).value).toBe(49);
  });

  it("counts what processes hold in blocks as used, and ends those of its own", async () => {
    const lease = { lease: { ms: 1000 } };
    const small = { ...bucket, rate: 600, ...lease };
    const large = { ...bucket, rate: 6000, ...lease };
    const { clock, limiter, other } = setUp();
    let granted = 0;
    const call = async (config: RateLimitConfig, by = limiter) => {
      if ((await by.limit("calls", { ...user, config })).ok) granted++;
    };
    for (let i = 0; i < 40; i++) await call(small, i % 2 ? limiter : other);
    await limiter.changeConfig("calls", { ...user, from: small, to: large });
    // The other process may still serve what it holds, until its block has ended.
    for (let i = 0; i < 7000; i++) await call(i % 2 ? large : small, i % 2 ? limiter : other);
    expect(granted).toBeLessThanOrEqual(6000);
    clock.advance(1000);
    // What was lost with blocks comes back as in any bucket.
    for (let i = 0; i < 200; i++) await call(large, other);
    expect(granted).toBeLessThanOrEqual(6100);
  });

  it("goes by what an override makes of both plans", async () => {
    const { limiter } = setUp({ overrides: true });
    await limiter.overrides.set("pictures", { ...user, times: 2 });
    await limiter.limit("pictures", { ...user, count: 10 });
    expect(await limiter.changeConfig("pictures", { ...user, to: pro })).toEqual({ value: 90 });
    await limiter.overrides.set("pictures", { ...user, config: free });
    // This customer has 5 a day, whatever the plan.
    expect(await limiter.changeConfig("pictures", { ...user, from: pro })).toEqual({ value: 5 });
  });

  it("refuses what it cannot be about", async () => {
    const { limiter } = setUp();
    const credits = limiter.changeConfig("credits" as "calls", { ...user, to: pro });
    await expect(credits).rejects.toThrow('config.kind of a call on "credits"');
    const smaller = { kind: "credits", capacity: 10 } as unknown as RateLimitConfig;
    const balance = limiter.changeConfig("credits" as "calls", { ...user, to: smaller });
    await expect(balance).rejects.toThrow("does not go with the credits");
    await expect(limiter.changeConfig("pictures", user)).rejects.toThrow("needs from, to or both");
    const misspelt = { ...user, to: pro, too: pro };
    await expect(limiter.changeConfig("pictures", misspelt)).rejects.toThrow(
      "too is not an option",
    );
    const slots = limiter.changeConfig("slots" as "calls", { ...user, to: pro });
    await expect(slots).rejects.toThrow(/slots/);
  });
});
