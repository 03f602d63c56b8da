import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, DAY, memoryStore, MINUTE } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";

const config = { kind: "fixed window", rate: 3, period: DAY, start: 0 } as const;

function setUp() {
  const clock = createManualClock();
  const store = memoryStore();
  const limiter = createRateLimiter({ store, clock, limits: { known: config } });
  return { clock, limiter, store };
}

it("prune keeps rows of a name that the limiter does not know, until it is among its limits", async () => {
  const { clock, limiter, store } = setUp();
  await limiter.limit("later", { config, count: 3 });
  clock.advance(MINUTE);
  expect(await limiter.prune()).toBe(0);
  expect(await limiter.check("later", { config })).toMatchObject({ ok: false });
  clock.advance(20 * DAY);
  expect(await limiter.prune()).toBe(0);
  const knowing = createRateLimiter({ store, clock, limits: { later: config } });
  expect(await knowing.prune()).toBe(1);
});

it("prune keeps a row until it has been full for a minute, because other clocks may be behind", async () => {
  const { clock, limiter } = setUp();
  await limiter.limit("known", { key: "u" });
  clock.set(clock() - (clock() % DAY) + DAY + MINUTE - 1);
  expect(await limiter.prune()).toBe(0);
  clock.advance(1);
  expect(await limiter.prune()).toBe(1);
});

describe.each(stores)("prune on %s, of limits with plans", (_name, open) => {
  const bucket = { kind: "token bucket", period: MINUTE } as const;
  const limits = {
    messages: {
      ...bucket,
      plans: {
        free: { rate: 1, capacity: 10 },
        pro: { rate: 10, capacity: 50 },
        gold: "unlimited",
      },
    },
    days: {
      kind: "fixed window",
      period: DAY,
      start: 0,
      plans: { free: 5, pro: 50, gold: "none" },
    },
    ids: { ...bucket, holds: true, onceFor: MINUTE, plans: { free: 1, pro: 2, gold: 3 } },
  } as const;

  async function openPlanned() {
    const opened = await open();
    const clock = createManualClock(Date.UTC(2030, 0, 1));
    const { store } = opened;
    const plans = ["free", "pro", "gold"] as const;
    const limiter = createRateLimiter({ store, clock, plans, limits, overrides: true });
    return { clock, limiter, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  }

  it("keeps a row until it is full by the slowest plan, and has been so for a minute", async () => {
    await using at = await openPlanned();
    const { limiter, clock } = at;
    await limiter.limit("messages", { key: "free", count: 2, plan: "free" });
    await limiter.limit("messages", { key: "pro", count: 9, plan: "pro" });
    await limiter.limit("messages", { key: "large", count: 30, plan: "pro" });
    // 10 tokens of debt: 6 minutes by the plan that made it, and 20 by the smaller one.
    await limiter.charge("messages", { key: "debt", count: 60, plan: "pro" });
    const minutes = { free: 2, pro: 9, debt: 20, large: 30 };
    let passed = 0;
    for (const [key, until] of Object.entries(minutes)) {
      clock.advance((until + 1 - passed) * MINUTE - 1);
      expect(await limiter.prune()).toBe(0);
      const { value } = await limiter.getValue("messages", { key, plan: "pro" });
      expect(value).toBe(50);
      clock.advance(1);
      expect(await limiter.prune()).toBe(1);
      passed = until + 1;
    }
  });

  it("keeps the row of a window until it is full by the smallest plan, whatever answers other plans get", async () => {
    await using at = await openPlanned();
    const { limiter, clock } = at;
    await limiter.limit("days", { key: "free", count: 5, plan: "free" });
    await limiter.limit("days", { key: "pro", count: 12, plan: "pro" });
    clock.advance(DAY + MINUTE);
    expect(await limiter.prune()).toBe(1);
    // 5 a day: the third window has the last of the 12.
    clock.advance(2 * DAY - 1);
    expect(await limiter.prune()).toBe(0);
    clock.advance(1);
    expect(await limiter.prune()).toBe(1);
  });

  it("knows the plans without any call by them, and what overrides make of them", async () => {
    await using at = await openPlanned();
    const { limiter, clock } = at;
    await limiter.overrides.set("messages", { key: "slow", times: 0.1 });
    await limiter.limit("messages", { key: "slow", plan: "pro" });
    clock.advance(2 * MINUTE);
    // A tenth of a token a minute, by the smallest plan.
    expect(await limiter.prune()).toBe(0);
    clock.advance(9 * MINUTE - 1);
    expect(await limiter.prune()).toBe(0);
    clock.advance(1);
    expect(await limiter.prune()).toBe(1);
  });

  it("ends lapsed holds of every plan, and deletes their rows and ids", async () => {
    await using at = await openPlanned();
    const { limiter, clock } = at;
    const hold = { for: MINUTE, then: "release" } as const;
    for (const plan of ["free", "pro", "gold"] as const) {
      await limiter.limit("ids", { key: plan, plan, once: "a", hold });
    }
    clock.advance(MINUTE - 1);
    expect(await limiter.prune()).toBe(0);
    clock.advance(DAY);
    expect(await limiter.prune()).toBeGreaterThan(0);
    expect(await limiter.prune()).toBe(0);
    for (const plan of ["free", "pro", "gold"] as const) {
      expect(await limiter.holds("ids", { key: plan })).toEqual([]);
      const again = await limiter.limit("ids", { key: plan, plan, once: "a", hold });
      expect(again).not.toHaveProperty("repeated");
    }
  });
});

it("prunes slots whose ttl has passed, and the seats of their lines", async () => {
  const clock = createManualClock(1e12);
  const limits = { jobs: { kind: "concurrency", slots: 2 } } as const;
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock: () => clock() });
  await limiter.enter("jobs", { key: "ada" });
  const held = await limiter.enter("jobs", { key: "ada" });
  const waiting = limiter.enter("jobs", { key: "ada", maxWait: Infinity });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await limiter.prune()).toBe(0);
  if (held.ok) await held.release();
  expect(await waiting).toMatchObject({ ok: true });
  // The row of a slot for which callers have waited stays for 1024 + 17 + 600,000 / 1024 ttls.
  clock.advance(1628 * 600_000);
  expect(await limiter.prune()).toBe(2);
});
