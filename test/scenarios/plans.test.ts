/** A row says what was used. So plans and overrides change the limit of a key, and move no tokens. */
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, DAY, HOUR, MINUTE, type RateLimitStore } from "../../server/index.js";
import { storesAndRedis } from "../support/stores.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const pro = { ...free, rate: 50 };
const minute = { kind: "token bucket", rate: 6, period: MINUTE } as const;
const limits = {
  pictures: free,
  calls: { ...minute, rate: 40, shards: 4 },
  minute,
  closing: { ...minute, blockFor: 10 * MINUTE },
  credits: { kind: "credits" },
} as const;
const ada = { key: "ada" } as const;

function limiterOf(store: RateLimitStore, clock: () => number) {
  return createRateLimiter({ store, clock, limits, overrides: true, overridesFor: 0 });
}

async function opened(open: (typeof storesAndRedis)[number][1]) {
  const { store, peer, [Symbol.asyncDispose]: close } = await open();
  const clock = createManualClock(20_000 * DAY + 10 * HOUR);
  const limiter = limiterOf(store, clock);
  const other = limiterOf(peer, clock);
  /** By the config of the call, or by the limit's own. */
  const left = async (config?: object) =>
    (await other.getValue("pictures", { ...ada, ...(config && { config: config as never }) }))
      .value;
  const use = (count: number, config?: object) =>
    limiter.limit("pictures", { ...ada, count, ...(config && { config: config as never }) });
  return { clock, limiter, other, left, use, [Symbol.asyncDispose]: close };
}

describe.each(storesAndRedis)("what was used, on %s", (_, open) => {
  let at: Awaited<ReturnType<typeof opened>>;
  beforeEach(async () => {
    at = await opened(open);
    return () => at[Symbol.asyncDispose]();
  });

  it("leaves 45 of 50 at once after 5 of 5, though nobody was told of the upgrade", async () => {
    await at.use(5);
    expect(await at.use(1)).toMatchObject({ ok: false });
    expect(await at.left(pro)).toBe(45);
    expect(await at.use(15, pro)).toMatchObject({ ok: true, value: 30 });
    // Late calls by the old plan are denied, and take nothing away.
    for (let i = 0; i < 3; i++) expect(await at.use(1)).toMatchObject({ ok: false, value: 0 });
    expect(await at.left(pro)).toBe(30);
    at.clock.advance(DAY);
    expect([await at.left(), await at.left(pro)]).toEqual([5, 50]);
  });

  it.each([
    { used: 50, override: { times: 3 }, then: 100, cleared: 0 },
    { used: 10, override: { times: 0.5 }, then: 15, cleared: 40 },
    { used: 3, override: { config: { ...free, rate: 100 } }, then: 97, cleared: 47 },
    { used: 50, override: { config: { ...free, rate: 100 } }, then: 50, cleared: 0 },
    { used: 5, override: { blocked: true as const }, then: 0, cleared: 45 },
  ])("leaves $then of a call's own config with $override, and $cleared after it", async (each) => {
    await at.use(each.used, pro);
    await at.limiter.overrides.set("pictures", { ...ada, ...each.override });
    expect(await at.left(pro)).toBe(each.then);
    expect(await at.limiter.overrides.clear("pictures", ada)).toBe(true);
    expect(await at.left(pro)).toBe(each.cleared);
  });

  it("stays used when an override that gave more ends", async () => {
    await at.other.overrides.set("pictures", { ...ada, times: 2, until: at.clock() + HOUR });
    expect(await at.use(60, pro)).toMatchObject({ ok: true, value: 40 });
    at.clock.advance(HOUR);
    expect(await at.left(pro)).toBe(0);
    // Beneath an override, a customer has paid.
    await at.limiter.overrides.set("pictures", { key: "bob", times: 10 });
    await at.limiter.limit("pictures", { key: "bob", count: 5 });
    await at.limiter.overrides.clear("pictures", { key: "bob" });
    const bob = { key: "bob", config: pro as never } as const;
    expect(await at.other.getValue("pictures", bob)).toMatchObject({ value: 45 });
  });

  it("is what it was after overrides are set and cleared by two operators at once", async () => {
    await at.use(5);
    for (let round = 0; round < 10; round++) {
      const operators = [at.limiter, at.other].flatMap(({ overrides }, i) => [
        overrides.set("pictures", { ...ada, times: 2 + i }),
        overrides.clear("pictures", ada),
      ]);
      await Promise.all(operators);
      await at.limiter.overrides.clear("pictures", ada);
      expect([await at.left(), await at.left(pro)]).toEqual([0, 45]);
    }
  });

  it("counts for all keys with an override of all of them, and for each shard", async () => {
    await at.use(5);
    await at.limiter.limit("calls", { ...ada, count: 15 });
    for (const name of ["pictures", "calls"] as const)
      await at.limiter.overrides.set(name, { times: 2 });
    expect(await at.left()).toBe(5);
    expect((await at.other.getValue("calls", ada)).value).toBe(65);
    // What a key has so many times, it has of the override of all keys.
    await at.limiter.overrides.set("pictures", { ...ada, times: 3 });
    expect(await at.left()).toBe(25);
  });

  it("to and fro gives nothing, also where the smaller plan takes what has refilled", async () => {
    const config = { ...minute, rate: 60 } as never;
    await at.limiter.limit("minute", { ...ada, count: 60, config });
    at.clock.advance(10_000);
    expect(await at.other.limit("minute", ada)).toMatchObject({ ok: true });
    expect(await at.other.limit("minute", ada)).toMatchObject({ ok: false, retryAfter: 10_000 });
    // The smaller plan has used what came, and the larger one still has used all of its own.
    expect((await at.limiter.getValue("minute", { ...ada, config })).value).toBeCloseTo(0, 3);
    at.clock.advance(60_000);
    expect((await at.limiter.getValue("minute", { ...ada, config })).value).toBe(60);
    expect((await at.limiter.getValue("minute", ada)).value).toBe(6);
  });

  it("a bucket that was closed opens when that was promised, whatever plan reads it", async () => {
    await at.limiter.limit("closing", { ...ada, count: 6 });
    const denied = await at.limiter.limit("closing", ada);
    expect(denied).toMatchObject({ ok: false, retryAfter: 10 * MINUTE + 10_000, value: 0 });
    const config = { ...limits.closing, rate: 1000 } as never;
    expect(await at.other.check("closing", { ...ada, config, count: 0 })).toMatchObject({
      ok: false,
      retryAfter: 10 * MINUTE,
    });
    at.clock.advance(10 * MINUTE - 1);
    expect(await at.other.limit("closing", { ...ada, config })).toMatchObject({ ok: false });
    at.clock.advance(1 + 60);
    expect(await at.other.limit("closing", { ...ada, config })).toMatchObject({ ok: true });
  });

  it("is a balance of credits, which no config changes", async () => {
    await at.limiter.credit("credits", { ...ada, count: 7 });
    const config = { kind: "credits", capacity: 10 } as never;
    await at.limiter.overrides.set("credits", { ...ada, config });
    expect((await at.other.getValue("credits", ada)).value).toBe(7);
  });
});
