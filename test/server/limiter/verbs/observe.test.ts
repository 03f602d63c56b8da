/** `observe` on every store: what a provider says lowers the limit of all processes. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type ObserveOptions,
  SECOND,
} from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  provider: { kind: "token bucket", rate: 6000, period: MINUTE, capacity: 1000 },
  window: { kind: "fixed window", rate: 1000, period: MINUTE, start: 0 },
  monthly: { kind: "fixed window", rate: 1000, period: "month", start: 0 },
  shared: { kind: "token bucket", rate: 6000, period: MINUTE, capacity: 1000, shards: 4 },
  credits: { kind: "credits", capacity: 100 },
  slots: { kind: "concurrency", slots: 1 },
} as const;

describe.each(storesAndRedis)("observe on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  it.each(["provider", "window", "monthly", "shared"] as const)(
    "lowers %s for every process, and never raises it",
    async (name) => {
      const at = await setUp();
      const left = async () => (await at.peer.getValue(name)).value;
      expect(await at.limiter.observe(name, { remaining: 400 })).toEqual({
        observed: true,
        lowered: true,
      });
      expect(await left()).toBe(400);
      for (const remaining of [400, 401, 5000]) {
        expect(await at.peer.observe(name, { remaining })).toEqual({
          observed: true,
          lowered: false,
        });
      }
      await at.peer.limit(name, { count: 150 });
      expect((await at.limiter.observe(name, { remaining: 300 })).lowered).toBe(false);
      expect(await left()).toBe(250);
    },
  );

  it("lets what remains pass, and no more", async () => {
    const at = await setUp();
    await at.limiter.observe("provider", { key: "a", remaining: 400 });
    expect(await at.peer.limit("provider", { key: "a", count: 401 })).toMatchObject({
      ok: false,
      retryAfter: 10,
    });
    expect(await at.peer.limit("provider", { key: "a", count: 400 })).toMatchObject({ ok: true });
    // Other keys have limits of their own.
    expect(await at.peer.limit("provider", { key: "b", count: 1000 })).toMatchObject({ ok: true });
  });

  it.each(["provider", "shared"] as const)(
    "makes calls on %s wait where nothing remains, and never shortens a longer wait",
    async (name) => {
      const at = await setUp();
      await at.limiter.observe(name, { remaining: 0, retryAfter: 20 * SECOND });
      expect(await at.peer.check(name, { count: 0 })).toMatchObject({ retryAfter: 20 * SECOND });
      at.clock.advance(5 * SECOND);
      const shorter = await at.peer.observe(name, { remaining: 0, retryAfter: 10 * SECOND });
      expect(shorter.lowered).toBe(false);
      const resetAt = at.clock() + 30 * SECOND;
      expect((await at.peer.observe(name, { remaining: 0, resetAt })).lowered).toBe(true);
      expect(await at.limiter.check(name, { count: 0 })).toMatchObject({ retryAfter: 30 * SECOND });
      at.clock.advance(30 * SECOND);
      expect((await at.limiter.getValue(name)).value).toBeCloseTo(0, 6);
    },
  );

  it("closes a window until the first one that starts after the wait", async () => {
    const at = await setUp();
    at.clock.advance(MINUTE - (at.clock() % MINUTE) + 15 * SECOND);
    await at.limiter.observe("window", { remaining: 0, retryAfter: 50 * SECOND });
    expect(await at.peer.check("window")).toMatchObject({ retryAfter: 105 * SECOND });
    at.clock.advance(105 * SECOND);
    expect((await at.peer.getValue("window")).value).toBe(1000);
  });

  it("is exact beside calls of another process: what is lowered is not given out again", async () => {
    const at = await setUp();
    for (let round = 0; round < 10; round++) {
      const key = `round ${round}`;
      await Promise.all([
        ...Array.from({ length: 10 }, () => at.limiter.limit("monthly", { key, count: 10 })),
        ...[700, 500, 600].map((remaining) => at.peer.observe("monthly", { key, remaining })),
      ]);
      const { value } = await at.limiter.getValue("monthly", { key });
      expect(value).toBeLessThanOrEqual(500);
      expect(value).toBeGreaterThanOrEqual(400);
      expect(value % 10).toBe(0);
    }
  });
});

describe.each(stores)("observe in a transaction on %s", (_, open) => {
  it("is committed with it, or rolled back", async () => {
    const at = await twoProcesses(open, limits);
    await at.limiter.transaction(({ observe }) => observe("provider", { remaining: 400 }));
    const failing = at.limiter.transaction(async ({ observe }) => {
      await observe("provider", { remaining: 100 });
      throw new Error("the job failed");
    });
    await expect(failing).rejects.toThrow("the job failed");
    expect((await at.limiter.getValue("provider")).value).toBe(400);
  });
});

function inMemory() {
  const warnings: string[] = [];
  const clock = createManualClock(20_000 * DAY);
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { ...limits, leased: { ...limits.provider, lease: { ms: SECOND } } },
    clock,
    overrides: true,
    logger: { warn: (message: string) => void warnings.push(message), error() {} },
  });
  return { limiter, clock, warnings };
}

describe("figures that cannot be true", () => {
  const wrong: [string, ObserveOptions][] = [
    ["no remaining tokens", { remaining: undefined }],
    ["null remaining tokens", { remaining: null }],
    ["NaN remaining tokens", { remaining: NaN }],
    ["fewer than no tokens", { remaining: -1 }],
    ["tokens without an end", { remaining: Infinity }],
    ["a wait of NaN", { remaining: 0, retryAfter: NaN }],
    ["a negative wait", { remaining: 0, retryAfter: -1 }],
    ["a wait that is a date", { remaining: 0, retryAfter: 1_764_139_521_000 }],
    ["an instant far away", { remaining: 0, resetAt: 20_032 * DAY }],
    ["an instant of NaN", { remaining: 0, resetAt: NaN }],
  ];

  it.each(wrong)("%s: change nothing, and are told to the logger once", async (__, options) => {
    const { limiter, warnings } = inMemory();
    await limiter.limit("provider", { count: 300 });
    const before = await limiter.getValue("provider");
    for (let time = 0; time < 2; time++) {
      expect(await limiter.observe("provider", options)).toEqual({
        observed: false,
        lowered: false,
      });
    }
    expect(await limiter.getValue("provider")).toEqual(before);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('observe() of "provider" got re');
  });

  it("an instant that is over is no wait, and null is no wait either", async () => {
    const { limiter } = inMemory();
    await limiter.observe("provider", { remaining: 0, resetAt: 19_000 * DAY, retryAfter: null });
    expect((await limiter.getValue("provider")).value).toBe(0);
  });
});

it("goes by the config of a call, such as that of a plan", async () => {
  const { limiter } = inMemory();
  const config = { ...limits.provider, capacity: 100 };
  expect((await limiter.observe("provider", { config, remaining: 100 })).lowered).toBe(false);
  expect((await limiter.observe("provider", { config, remaining: 50 })).lowered).toBe(true);
  expect((await limiter.getValue("provider", { config })).value).toBe(50);
});

it("lowers the rows of a key that is exempt, which count when the exemption ends", async () => {
  const { limiter } = inMemory();
  await limiter.overrides.set("provider", { key: "a", unlimited: true });
  expect((await limiter.observe("provider", { key: "a", remaining: 10 })).lowered).toBe(true);
  await limiter.overrides.clear("provider", { key: "a" });
  expect((await limiter.getValue("provider", { key: "a" })).value).toBe(10);
});

it("ends what this process holds in a block, which would come on top", async () => {
  const { limiter } = inMemory();
  for (let call = 0; call < 40; call++) await limiter.limit("leased");
  expect((await limiter.observe("leased", { remaining: 0, retryAfter: HOUR })).lowered).toBe(true);
  expect(await limiter.limit("leased")).toMatchObject({ ok: false });
});
