/** Results that were taken by one plan, and are settled or given back by another one. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  memoryStore,
  type RateLimitConfig,
  type RateLimitResult,
  type RateLimitStore,
} from "../../../server/index.js";
import { stores } from "../../support/stores.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const pro = { ...free, rate: 50 };
const user = { key: "ada" } as const;

function opened(store: RateLimitStore<never>) {
  const limiter = createRateLimiter({
    store,
    clock: createManualClock(20_000 * DAY),
    limits: { pictures: free },
  });
  return {
    limiter,
    take: (count: number, config: RateLimitConfig) =>
      limiter.limit("pictures", { ...user, count, config, throws: true }),
    change: (from: RateLimitConfig, to: RateLimitConfig) =>
      limiter.changeConfig("pictures", { ...user, from, to }),
    left: async (config: RateLimitConfig) =>
      (await limiter.getValue("pictures", { ...user, config })).value,
  };
}

describe.each(stores)("a result of the plan before, on %s", (_, open) => {
  it("gives nothing back that the larger plan has not taken, and nothing twice", async () => {
    await using store = await open();
    const at = opened(store.store as RateLimitStore<never>);
    const result = await at.take(3, free);
    await at.change(free, pro);
    await at.limiter.refund("pictures", { ...user, count: 2, result });
    await at.limiter.settle(result, 0);
    await at.limiter.refund("pictures", { ...user, count: 3, result });
    // By the config of its call, the bucket has more than all of its tokens.
    expect(await at.left(pro)).toBe(47);
  });

  it("gives back to the smaller plan what was used of the larger one, once", async () => {
    await using store = await open();
    const at = opened(store.store as RateLimitStore<never>);
    const result = await at.take(4, pro);
    await at.change(pro, free);
    expect(await at.left(free)).toBe(1);
    await at.limiter.settle(result, 1);
    expect(await at.left(free)).toBe(4);
    await at.limiter.settle(result, 2);
    expect(await at.left(free)).toBe(3);
    for (let i = 0; i < 2; i++) await at.limiter.refund("pictures", { ...user, count: 4, result });
    expect(await at.left(free)).toBe(5);
  });

  it("gives nothing back to a plan that owes, because others may have been promised their turns", async () => {
    await using store = await open();
    const at = opened(store.store as RateLimitStore<never>);
    const result = await at.take(20, pro);
    await at.change(pro, free);
    await at.limiter.settle(result, 5);
    expect(await at.left(free)).toBe(-15);
  });

  it("leaves no more than the smaller plan has, where what was owed is forgotten", async () => {
    await using store = await open();
    const at = opened(store.store as RateLimitStore<never>);
    const strict = { ...free, maxReserved: 0 };
    const result = await at.take(20, pro);
    await at.change(pro, strict);
    expect(await at.left(strict)).toBe(0);
    await at.limiter.settle(result, 0);
    expect(await at.left(strict)).toBe(5);
  });
});

it("never holds more than the plan without what is kept, in random programs", async () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  let given = 0;
  for (let program = 0; program < 300; program++) {
    const at = opened(memoryStore() as RateLimitStore<never>);
    const plans = [free, pro, { ...free, rate: 20 }];
    let plan: RateLimitConfig = free;
    const kept: { result: RateLimitResult; count: number }[] = [];
    const left = async () => at.left(plan);
    for (let step = 0; step < 40; step++) {
      const before = await left();
      const one = kept[random(Math.max(1, kept.length))];
      const count = random(5);
      const action = random(4);
      if (action === 0) {
        const taken = count + 1;
        const result = await at.limiter.limit("pictures", { ...user, count: taken, config: plan });
        if (result.ok) kept.push({ result, count: taken });
      } else if (action === 1) {
        const to = plans[random(plans.length)]!;
        await at.change(plan, to);
        plan = to;
      } else if (one !== undefined && action === 2) {
        await at.limiter.settle(one.result, count);
        one.count = count;
      } else if (one !== undefined) {
        await at.limiter.refund("pictures", { ...user, count, result: one.result });
        one.count = Math.max(0, one.count - count);
      }
      if (action > 1 && (await left()) > before) given++;
      const used = kept.reduce((sum, each) => sum + each.count, 0);
      expect(await left()).toBeLessThanOrEqual(plan.rate - used);
    }
  }
  expect(given).toBeGreaterThan(300);
});
