/** Tokens that come back to the row of a leased limit. */
import { expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore, type RateLimitStore } from "../../../../server/index.js";

it("gives back no tokens that a block of another process has cost the row", async () => {
  const clock = createManualClock();
  const config = { kind: "token bucket", rate: 20, period: 100, capacity: 100 } as const;
  const limits = { hot: { ...config, lease: { ms: 100 } } };
  const store = memoryStore();
  const [one, other] = [0, 1].map(() => createRateLimiter({ store, clock, limits })) as [
    ReturnType<typeof createRateLimiter<typeof limits>>,
    ReturnType<typeof createRateLimiter<typeof limits>>,
  ];
  const row = async () => (await createRateLimiter({ store, clock, limits }).getValue("hot")).value;

  for (let i = 0; i < 3; i++) await other.limit("hot", { count: 5 });
  clock.advance(1000);
  expect(await row()).toBe(100);
  const { results } = await one.limitAll([{ name: "hot", count: 20 }]);
  // Of these 80 tokens, none was lost with this block. A larger row would have lost the rest.
  await other.limit("hot", { count: 5 });
  const block = (await other.getValue("hot")).value - (await row());
  expect(block).toBeGreaterThanOrEqual(4);
  await one.settle(results[0]!, 0);
  clock.advance(85);
  let granted = 0;
  // Not by a block, which would cost the row tokens, too.
  while ((await one.limitAll([{ name: "hot" }])).ok) granted++;
  while ((await other.limit("hot")).ok) granted++;
  expect(granted).toBeLessThanOrEqual(100);
});

it.each([
  ["at once", 0, [10]],
  ["in parts", 0, [40, 20, 10]],
  ["after a refill of 10", 50, [10]],
])("gives back what the row could hold beside a block, %s", async (_, ms, settledTo) => {
  const clock = createManualClock();
  const config = { kind: "token bucket", rate: 20, period: 100, capacity: 100 } as const;
  const limits = { hot: { ...config, lease: { ms: 100 } } };
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
  const { results } = await limiter.limitAll([{ name: "hot", count: 50 }]);
  clock.advance(ms);
  for (const actual of settledTo) await limiter.settle(results[0]!, actual);
  // Blocks are taken from 80 tokens.
  expect((await limiter.getValue("hot")).value).toBe(80);
});

it("gives tokens back to the block that they are from, and to none in a transaction", async () => {
  const clock = createManualClock();
  const config = { kind: "token bucket", rate: 1000, period: 1000, capacity: 5000 } as const;
  const limits = { hot: { ...config, lease: { ms: 1000 } } };
  const memory = memoryStore() as RateLimitStore;
  const apply = vi.fn(memory.apply);
  const store = { ...memory, apply } as RateLimitStore;
  const limiter = createRateLimiter({ store, clock, limits });
  const left = async () => (await limiter.getValue("hot")).value;
  for (let i = 0; i < 50; i++) await limiter.limit("hot", { count: 2 });
  apply.mockClear();
  const result = await limiter.limit("hot", { count: 5 });
  expect(apply).not.toHaveBeenCalled();
  const before = await left();
  const rolledBack = limiter.transaction(async ({ settle }) => {
    await settle(result, 0);
    throw new Error("stop");
  });
  await expect(rolledBack).rejects.toThrow("stop");
  // The block could not have lost them again.
  expect(await left()).toBe(before);
  apply.mockClear();
  await limiter.settle(result, 1);
  expect(apply).not.toHaveBeenCalled();
  expect(await left()).toBe(before + 4);
});
