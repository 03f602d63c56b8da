/** Calls of a sharded limit go to the fuller of two shards, in one statement if that shard has enough. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, MINUTE } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = { hot: { kind: "token bucket", rate: 12, period: MINUTE, shards: 3 } } as const;
const T = Date.UTC(2030, 0, 1);

it.each(storesAndRedis)("grants all tokens of all shards and none more, on %s", async (_, open) => {
  await using opened = await open();
  const clock = createManualClock(T);
  const first = createRateLimiter({ store: opened.store, clock, limits });
  const second = createRateLimiter({ store: opened.peer, clock, limits });
  const calls = Array.from({ length: 40 }, (_each, i) => (i % 2 ? first : second).limit("hot"));
  const granted = (await Promise.all(calls)).filter(({ ok }) => ok).length;
  expect(granted).toBeLessThanOrEqual(12);
  // Calls that met two empty shards were denied, so a few tokens of the third one may be left.
  expect((await first.getValue("hot")).value).toBe(12 - granted);
  while ((await first.getValue("hot")).value > 0) await second.limit("hot");
  expect((await first.limit("hot")).ok).toBe(false);
});

it.each(storesAndRedis)("takes from the fuller shard that it knows of, on %s", async (_, open) => {
  await using opened = await open();
  const dice: number[] = [];
  const clock = createManualClock(T);
  const limiter = createRateLimiter({
    store: opened.store,
    clock,
    limits,
    random: () => dice.shift() ?? 0,
  });
  // Always the shards 0 and 1, in this order.
  const used: number[] = [];
  for (let i = 0; i < 6; i++) {
    const result = await limiter.limit("hot");
    expect(result.ok).toBe(true);
    used.push(...((result.ok && result.shards?.map(({ shard }) => shard)) || []));
  }
  expect([...used].sort((a, b) => a - b)).toEqual([0, 0, 0, 1, 1, 1]);
  // Together they have two tokens. A call for both of them takes them from both.
  expect(await limiter.limit("hot", { count: 2 })).toMatchObject({
    ok: true,
    value: 0,
    shards: [
      { shard: 0, count: 1 },
      { shard: 1, count: 1 },
    ],
  });
});

it.each(storesAndRedis)("owes nothing while the other shard has tokens, on %s", async (_, open) => {
  await using opened = await open();
  const limiter = createRateLimiter({
    store: opened.store,
    clock: createManualClock(T),
    limits,
    random: () => 0,
  });
  await limiter.limit("hot", { count: 4 });
  const reserved = await limiter.limit("hot", { count: 4, reserve: true });
  expect(reserved).toMatchObject({ ok: true, value: 0, shards: [{ count: 4 }] });
  expect(reserved.retryAfter).toBeUndefined();
});
