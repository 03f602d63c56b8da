/** `settle` of a call whose plan has changed since: what the new plan gave stays. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, DAY, type RateLimitConfig } from "../../../server/index.js";
import { storesAndRedis } from "../../support/stores.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const pro = { ...free, rate: 50 } as const;
const bucket = { kind: "token bucket", rate: 5, period: DAY } as const;

const plans: { title: string; from: RateLimitConfig; to: RateLimitConfig }[] = [
  { title: "windows", from: free, to: pro },
  { title: "buckets", from: bucket, to: { ...bucket, rate: 50 } },
  {
    title: "shards",
    from: { ...bucket, rate: 6, shards: 2 },
    to: { ...bucket, rate: 50, shards: 2 },
  },
];

describe.each(storesAndRedis)("settle after a change of plan on %s", (name, open) => {
  it.each(plans)("takes what was used from the new level, with $title", async ({ from, to }) => {
    await using opened = await open();
    const { store } = opened;
    const limits = { tokens: from };
    const limiter = createRateLimiter({ store, limits });
    const left = async () => (await limiter.getValue("tokens", { key: "eve", config: to })).value;
    const estimated = await limiter.limit("tokens", { key: "eve", count: 2, config: from });
    await limiter.changeConfig("tokens", { key: "eve", from, to });
    const before = await left();
    expect(before).toBeCloseTo(48, 1);
    await limiter.settle(estimated, 4);
    expect(await left()).toBeCloseTo(before - 2, 1);
    // A second correction goes by the first one.
    await limiter.settle(estimated, 6);
    expect(await left()).toBeCloseTo(before - 4, 1);
  });

  it("takes what was used from the level that an override has given since", async ({ skip }) => {
    await using opened = await open();
    const { store } = opened;
    if (store.overrides === undefined) skip(`${name} has no overrides`);
    const limiter = createRateLimiter({ store, limits: { tokens: free }, overrides: true });
    const left = async () => (await limiter.getValue("tokens", { key: "eve" })).value;
    const estimated = await limiter.limit("tokens", { key: "eve", count: 2 });
    await limiter.overrides.set("tokens", { key: "eve", times: 10 });
    expect(await left()).toBe(48);
    await limiter.settle(estimated, 4);
    expect(await left()).toBe(46);
  });

  it("goes by the capacity where the level is below it", async () => {
    await using opened = await open();
    const { store } = opened;
    const limiter = createRateLimiter({ store, limits: { tokens: free } });
    const estimated = await limiter.limit("tokens", { key: "eve", count: 2, config: pro });
    await limiter.changeConfig("tokens", { key: "eve", from: pro, to: free });
    await limiter.settle(estimated, 3);
    expect((await limiter.getValue("tokens", { key: "eve" })).value).toBe(2);
  });
});
