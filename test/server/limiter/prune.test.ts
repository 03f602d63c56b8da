import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, DAY, memoryStore, MINUTE } from "../../../server/index.js";

const config = { kind: "fixed window", rate: 3, period: DAY, start: 0 } as const;

function setUp() {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits: { known: config } });
  return { clock, limiter };
}

it("prune keeps rows of a name without a config", async () => {
  const { clock, limiter } = setUp();
  await limiter.limit("plans", { config, count: 3 });
  clock.advance(MINUTE);
  expect(await limiter.prune({ alsoConfigs: { plans: [] } })).toBe(0);
  expect(await limiter.check("plans", { config })).toMatchObject({ ok: false });
  clock.advance(2 * DAY);
  expect(await limiter.prune({ alsoConfigs: { plans: [] } })).toBe(0);
  expect(await limiter.prune({ alsoConfigs: { plans: [config] } })).toBe(1);
});

it("prune rejects an invalid config", async () => {
  const { limiter } = setUp();
  await limiter.limit("known");
  for (const period of [0, Number.NaN]) {
    const pruning = limiter.prune({ alsoConfigs: { known: [config, { ...config, period }] } });
    await expect(pruning).rejects.toThrow("alsoConfigs.known.period must be a whole number of ms");
  }
  expect((await limiter.getValue("known")).value).toBe(2);
});

it("prune keeps a row until it has been full for a minute, because other clocks may be behind", async () => {
  const { clock, limiter } = setUp();
  await limiter.limit("known", { key: "u" });
  clock.set(clock() - (clock() % DAY) + DAY + MINUTE - 1);
  expect(await limiter.prune()).toBe(0);
  clock.advance(1);
  expect(await limiter.prune()).toBe(1);
});
