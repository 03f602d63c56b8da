/** Overrides of the limits that `limitFirst` asks. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  MAX_RETRY_AFTER,
  memoryStore,
  MINUTE,
} from "../../../../server/index.js";

const key = "user";
const START = Date.UTC(2030, 0, 1);

async function setUp() {
  const clock = createManualClock(START);
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: {
      plan: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 },
      credits: { kind: "credits" },
    },
    overrides: true,
  });
  await limiter.credit("credits", { key, count: 100 });
  return {
    limiter,
    pay: (count: number, split = false) =>
      limiter.limitFirst(["plan", "credits"], { key, count, split }),
    left: async (name: "plan" | "credits") => (await limiter.getValue(name, { key })).value,
  };
}

describe("limitFirst with overrides", () => {
  it("lets the credits pay while the plan is blocked", async () => {
    const { limiter, pay, left } = await setUp();
    await limiter.overrides.set("plan", { key, blocked: true, until: START + MINUTE });
    expect(await pay(6)).toMatchObject({ ok: true, paid: [{ name: "credits", count: 6 }] });
    expect(await pay(6, true)).toMatchObject({ ok: true, paid: [{ name: "credits", count: 6 }] });
    expect(await left("credits")).toBe(88);
    await limiter.overrides.set("credits", { key, blocked: true });
    expect(await pay(6)).toMatchObject({ ok: false, retryAfter: MINUTE });
    await limiter.overrides.set("plan", { key, blocked: true });
    expect(await pay(6)).toMatchObject({ ok: false, retryAfter: MAX_RETRY_AFTER });
  });

  it("gives back what a blocked plan was charged beyond the estimate", async () => {
    const { limiter, pay, left } = await setUp();
    await limiter.overrides.set("plan", { key, blocked: true });
    const result = await pay(6);
    await limiter.settle(result, 9);
    await limiter.settle(result, 6);
    await limiter.overrides.clear("plan", { key });
    expect([await left("plan"), await left("credits")]).toEqual([10, 94]);
  });

  it.each([false, true])("takes nothing from an exempt caller (split: %s)", async (split) => {
    const { limiter, pay, left } = await setUp();
    await limiter.overrides.set("plan", { key, unlimited: true });
    const result = await pay(5000, split);
    expect(result).toMatchObject({ ok: true, paid: [{ name: "plan", count: 5000 }] });
    await limiter.settle(result, 20);
    await limiter.overrides.clear("plan", { key });
    expect(await left("plan")).toBe(10);
    expect(await left("credits")).toBe(100);
  });

  it("lets the plan pay as much more as an override gives", async () => {
    const { limiter, pay, left } = await setUp();
    await limiter.overrides.set("plan", { key, times: 3 });
    expect(await pay(25)).toMatchObject({ ok: true, paid: [{ name: "plan", count: 25 }] });
    expect(await left("credits")).toBe(100);
  });
});
