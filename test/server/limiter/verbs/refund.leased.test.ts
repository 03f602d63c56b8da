/** Tokens that come back to the row of a leased limit. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../../../server/index.js";

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
