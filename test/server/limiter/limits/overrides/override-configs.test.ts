/** The configs by which `prune` tells whether a row is full, with many overrides. */
import { expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../../../server/index.js";
import { configsUnder } from "../../../../../server/limiter/limits/overrides/override-configs.js";
import { createManualClock } from "../../../../../testing/index.js";
import type { PlanTable } from "../../../../../server/limiter/limits/plans/plan-table.js";
import type { RateLimitOverride } from "../../../../../server/index.js";

const START = Date.UTC(2030, 0, 1);
const own = { kind: "token bucket", rate: 10, period: MINUTE } as const;

it("are as many as the keys have different rules, and not as many as their products", () => {
  const options = { configs: new Map([["send", own]]), plans: {} as PlanTable };
  const overrides = Array.from({ length: 12 }, (_, i): RateLimitOverride => {
    return { name: "send", key: `key ${i}`, times: i + 2, until: undefined, setAt: START };
  });
  const rates = configsUnder(options, "send", [own], overrides).map(({ rate }) => rate);
  expect(rates).toEqual([10, ...overrides.map(({ times }) => 10 * times!)]);
});

it("are those of each key, in the order of its own overrides", async () => {
  const clock = createManualClock(START);
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: { send: own },
    overrides: true,
  });
  const { overrides } = limiter;
  const config = { ...own, rate: 5 };
  // For one key, the config counts alone, and for the other one, a tenth of the config.
  await overrides.set("send", { key: "one", times: 0.1 });
  await overrides.set("send", { key: "one", config });
  await overrides.set("send", { key: "two", config });
  await overrides.set("send", { key: "two", times: 0.1 });
  await limiter.charge("send", { key: "two", count: 6 });
  const left = async () => (await limiter.getValue("send", { key: "two" })).value;
  clock.advance(7 * MINUTE);
  const before = await left();
  expect(before).toBeLessThan(0);
  await limiter.prune();
  expect(await left()).toBe(before);
});
