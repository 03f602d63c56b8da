/** Tokens that come back late, or behind other reservations, do not let an extra call through. */
import { expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  RateLimitInputError,
  type RateLimitResult,
  SECOND,
} from "../../server/index.js";
import { storesAndRedis } from "../support/stores.js";
import { twoProcesses } from "../support/two-processes.js";

const limits = {
  window: { kind: "fixed window", rate: 2, period: SECOND, start: 0 },
  bucket: { kind: "token bucket", rate: 10, period: SECOND, capacity: 2 },
  spread: { kind: "token bucket", rate: 80, period: SECOND, capacity: 8, shards: 4 },
} as const;

/** Real stores keep whole ms of today's size. */
const T = Date.UTC(2030, 0, 1);

it.each(storesAndRedis)(
  "a call of the last window gives nothing back to this one, on %s",
  async (_, open) => {
    const { clock, limiter } = await twoProcesses(open, limits, { now: T + 900 });
    const result = await limiter.limit("window");
    clock.advance(200);
    expect((await limiter.limit("window")).ok).toBe(true);
    expect((await limiter.limit("window")).ok).toBe(true);
    expect(await limiter.refund("window", { result })).toEqual({ value: 0 });
    expect((await limiter.limit("window")).ok).toBe(false);
  },
);

it.each(storesAndRedis)(
  "an aborted acquire leaves the turns of later ones alone, on %s",
  async (_, open) => {
    await using opened = await open();
    const clock = createManualClock(T);
    const limiter = createRateLimiter({ store: opened.store, clock, sleep: clock.sleep, limits });
    await limiter.limit("bucket", { count: 2 });
    const abort = new AbortController();
    const first = limiter.acquire("bucket", { count: 2, signal: abort.signal });
    const failed = first.catch((error: unknown) => error);
    while (clock.sleepers() < 1) await new Promise((resolve) => setTimeout(resolve));
    const second = await limiter.limit("bucket", { count: 2, reserve: true });
    expect(second).toMatchObject({ ok: true, retryAfter: 400 });
    abort.abort(new Error("stop"));
    expect(await failed).toEqual(new Error("stop"));
    const third = await limiter.limit("bucket", { count: 2, reserve: true });
    expect(third).toMatchObject({ ok: true, retryAfter: 600 });
  },
);

it("tokens of a sharded limit go back to the shards that gave them", async () => {
  const clock = createManualClock(T);
  const dice = [0, 0, 0.5, 0, 0.5, 0];
  const store = memoryStore();
  const limiter = createRateLimiter({ store, clock, limits, random: () => dice.shift() ?? 0 });
  const result = await limiter.limit("spread", { count: 4 });
  expect(result).toMatchObject({
    ok: true,
    shards: [
      { shard: 0, count: 2 },
      { shard: 1, count: 2 },
    ],
  });
  expect(await limiter.refund("spread", { count: 4, result })).toEqual({ value: 4 });
  clock.advance(50);
  const later = await limiter.limit("spread", { count: 2 });
  expect(await limiter.refund("spread", { count: 2, result: later })).toEqual({ value: 2 });
  expect((await limiter.getValue("spread")).value).toBe(8);
});

it("a denied call gives nothing back, and what is no result is an error", async () => {
  const clock = createManualClock(T);
  const store = memoryStore();
  const limiter = createRateLimiter({ store, clock, limits });
  await limiter.limit("window", { count: 2 });
  const denied = await limiter.limit("window");
  expect(await limiter.refund("window", { result: denied })).toEqual({ value: 0 });
  for (const wrong of [{}, { ok: true }, "granted", null, { ok: true, value: 1 }]) {
    const result = wrong as RateLimitResult;
    await expect(limiter.refund("window", { result })).rejects.toThrow(RateLimitInputError);
  }
  expect((await limiter.getValue("window")).value).toBe(0);
});
