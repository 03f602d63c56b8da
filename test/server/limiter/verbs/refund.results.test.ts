/** What comes back by a result, or a copy of it, and what is said of it. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";

const limits = {
  tokens: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 100 },
} as const;

function setUp() {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
  return { limiter, clock, left: async () => (await limiter.getValue("tokens")).value };
}

it("a denied call took nothing, so nothing comes back by its result, or by a copy of it", async () => {
  const { limiter, left } = setUp();
  await limiter.charge("tokens", { count: 60 });
  const denied = await limiter.limit("tokens", { count: 5 });
  expect(denied.ok).toBe(false);
  for (const result of [denied, { ...denied }]) {
    expect(await limiter.refund("tokens", { count: 5, result })).toEqual({ value: 0 });
  }
  expect(await left()).toBe(0);
});

it("charges into debt come back together, as the last of their line", async () => {
  const { limiter, left } = setUp();
  const result = await limiter.limit("tokens", { count: 60 });
  await limiter.settle(result, 65);
  await limiter.settle(result, 72);
  expect(await left()).toBe(-12);
  await limiter.settle(result, 63);
  expect(await left()).toBe(-3);
  await limiter.settle(result, 50);
  expect(await left()).toBe(10);
});

it("charges into debt do not come back while a later call waits behind them", async () => {
  const { limiter, left } = setUp();
  const result = await limiter.limit("tokens", { count: 60 });
  await limiter.settle(result, 65);
  await limiter.settle(result, 72);
  const waiting = await limiter.limit("tokens", { count: 4, reserve: true });
  expect(waiting).toMatchObject({ ok: true, retryAfter: 16_000 });
  await limiter.settle(result, 60);
  expect(await left()).toBe(-16);
});

it("a charge beside tokens that came back does not bring these back again", async () => {
  const { limiter, clock, left } = setUp();
  await limiter.charge("tokens", { count: 30 });
  const result = await limiter.limit("tokens", { count: 5 });
  await limiter.settle(result, 15);
  await limiter.settle(result, 11);
  await limiter.settle(result, 16);
  clock.advance(3000);
  expect(await left()).toBe(17);
  // Of the 15 tokens of both charges, 4 came back before, and 3 were refilled meanwhile.
  await limiter.settle(result, 5);
  expect(await left()).toBe(25);
});

it("a charge is one of its own once all of an earlier charge came back", async () => {
  const { limiter, clock, left } = setUp();
  await limiter.charge("tokens", { count: 30 });
  const result = await limiter.limit("tokens", { count: 5 });
  await limiter.settle(result, 15);
  await limiter.settle(result, 5);
  clock.advance(3000);
  await limiter.settle(result, 15);
  expect(await left()).toBe(18);
  // Nothing was refilled since the second charge.
  await limiter.settle(result, 5);
  expect(await left()).toBe(28);
});

it("listeners hear of a refund that changes a row, and of no other", async () => {
  const { limiter, clock } = setUp();
  const result = await limiter.limit("tokens", { count: 10 });
  let changes = 0;
  limiter.onChange(() => changes++);
  await limiter.refund("tokens", { count: 4, result });
  expect(changes).toBe(1);
  clock.advance(MINUTE);
  // The bucket is full.
  await limiter.refund("tokens", { count: 4, result });
  expect(changes).toBe(1);
});

it("what comes back by a copy of a result counts as given back, for its key and for all keys", async () => {
  const clock = createManualClock(0);
  const counted = { tokens: { ...limits.tokens, usage: true } } as const;
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits: counted });
  const call = { key: "ann", count: 10 } as const;
  const result = { ...(await limiter.limit("tokens", call)) };
  await limiter.refund("tokens", { ...call, count: 4, result });
  for (const of of [{ key: "ann" }, {}]) {
    const { total } = await limiter.usage("tokens", { ...of, from: 0, to: HOUR });
    expect(total).toMatchObject({ taken: 10, givenBack: 4 });
  }
});
