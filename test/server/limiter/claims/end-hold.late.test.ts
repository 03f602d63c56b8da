/** Holds that are ended late: after they lapsed, or after a later call took the same id. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";

const limits = {
  tokens: { kind: "token bucket", rate: 100, period: HOUR, holds: true },
} as const;
const key = "ann";

function setUp() {
  const clock = createManualClock();
  return { clock, limiter: createRateLimiter({ store: memoryStore(), clock, limits }) };
}

it("tokens of a hold that has lapsed come back as of then, however late a call notices", async () => {
  const { clock, limiter } = setUp();
  const hold = { for: 12 * MINUTE, then: "release" } as const;
  await limiter.limit("tokens", { key, count: 60, once: "a", hold });
  await limiter.limit("tokens", { key, count: 40 });
  clock.advance(36 * MINUTE);
  const late = await limiter.settle("tokens", { key, once: "a" }, 60);
  expect(late).toEqual({ settled: false, reason: "given back" });
  // 20 were refilled until the lapse, 40 of the hold came back, and 40 were refilled since.
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 100, held: 0 });
});

it("the result of a call ends no later hold of the same id", async () => {
  const { clock, limiter } = setUp();
  const call = { key, count: 60, once: "a", hold: { for: HOUR, then: "keep" } } as const;
  const first = await limiter.limit("tokens", call);
  await limiter.release("tokens", { key, once: "a" });
  clock.advance(1000);
  const second = await limiter.limit("tokens", call);
  expect(second).not.toHaveProperty("repeated");
  expect(await limiter.settle(first, 0)).toEqual({ settled: false });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ held: 60 });
  expect(await limiter.settle(second, 10)).toEqual({ settled: true });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 90, held: 0 });
});
