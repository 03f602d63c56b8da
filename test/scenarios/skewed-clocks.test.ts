/** Limits use the clock of the database, whatever the servers' own clocks say. */
import { afterEach, expect, it, vi } from "vitest";
import { createRateLimiter, HOUR, MINUTE, type RateLimitStore } from "../../server/index.js";
import { stores } from "../support/stores.js";

const limits = { few: { kind: "token bucket", rate: 3, period: HOUR } } as const;
const spread = { kind: "token bucket", rate: 3, period: HOUR, shards: 3 } as const;

afterEach(() => void vi.restoreAllMocks());

/** Sets the clock of this machine, which is that of the tested server. */
function skew(ms: number): void {
  vi.restoreAllMocks();
  const { now } = Date;
  if (ms !== 0) vi.spyOn(Date, "now").mockImplementation(() => now() + ms);
}

const databases = stores.filter(([name]) => name !== "memory");
const open = (store: RateLimitStore) => createRateLimiter({ store, limits });

it.each(databases)("a server that is an hour ahead grants no more, on %s", async (_, create) => {
  await using opened = await create();
  const right = open(opened.store);
  expect((await right.limit("few", { count: 3 })).ok).toBe(true);
  skew(HOUR);
  const ahead = open(opened.peer);
  const denied = await ahead.limit("few");
  expect(denied.ok).toBe(false);
  expect(denied.retryAfter).toBeLessThanOrEqual(20 * MINUTE);
  expect(denied.retryAfter).toBeGreaterThan(19 * MINUTE);
  skew(0);
  expect((await right.limit("few")).retryAfter).toBeLessThanOrEqual(20 * MINUTE);
});

it.each(databases)(
  "a server that is hours ahead keeps rows that are not full, on %s",
  async (_, create) => {
    skew(5 * HOUR);
    await using opened = await create();
    await open(opened.store).limit("few", { count: 3 });
    expect(await open(opened.peer).prune()).toBe(0);
    expect((await open(opened.store).check("few")).ok).toBe(false);
  },
);

it.each(databases)("a server that has slept decides by the new time, on %s", async (_, create) => {
  await using opened = await create();
  const hourly = { kind: "fixed window", rate: 10, period: HOUR } as const;
  // In the middle of a window.
  const config = { ...hourly, start: Date.now() - 30 * MINUTE };
  const limiter = createRateLimiter({ store: opened.store, limits });
  await limiter.limit("few");
  // An hour has passed for the database and for this machine's clock, but not for the monotonic one.
  const { now } = performance;
  vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) - HOUR);
  expect((await limiter.limit("hourly", { config, count: 10 })).ok).toBe(true);
  expect((await limiter.limit("hourly", { config, count: 10 })).ok).toBe(false);
});

it.each(databases)("a server with a wrong date locks no key, on %s", async (_, create) => {
  await using opened = await create();
  skew(Date.UTC(2099, 0, 1) - Date.now());
  const ahead = open(opened.peer);
  await ahead.limit("few");
  await ahead.limit("few", { key: "spread", config: spread });
  await ahead.transaction(({ limit }) => limit("few", { key: "transaction" }));
  await ahead.limitAll([
    { name: "few", key: "a" },
    { name: "few", key: "b" },
  ]);
  skew(0);
  const right = open(opened.store);
  const now = Date.now();
  for (const options of [{}, { key: "transaction" }, { key: "a" }, { key: "b" }]) {
    const { value, ts } = await right.getValue("few", options);
    expect(value).toBeCloseTo(2, 1);
    expect(Math.abs(ts - now)).toBeLessThan(MINUTE);
  }
  expect((await right.getValue("few", { key: "spread", config: spread })).value).toBeCloseTo(2, 1);
});

it.each(databases)("a clock that jumps between calls changes nothing, on %s", async (_, create) => {
  await using opened = await create();
  const limiter = open(opened.store);
  for (const [i, jump] of [0, 5 * HOUR, -5 * HOUR].entries()) {
    skew(jump);
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect(Math.round((await limiter.getValue("few")).value)).toBe(2 - i);
  }
  expect((await limiter.limit("few")).ok).toBe(false);
});

it("a clock that is given to the limiter is used instead", async () => {
  const [, create] = databases[0]!;
  await using opened = await create();
  const clock = () => Date.UTC(2099, 0, 1);
  const limiter = createRateLimiter({ store: opened.store, limits, clock });
  await limiter.limit("few");
  expect((await limiter.getValue("few")).ts).toBe(clock());
});
