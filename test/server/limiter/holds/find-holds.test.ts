/** Odd keys, ids and clocks. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import type { RateLimitStore } from "../../../../server/index.js";
import { createManualClock } from "../../../../core/testing.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  tokens: { kind: "token bucket", rate: 100, period: HOUR, holds: true },
} as const;
const keep = { for: 10 * MINUTE, then: "keep" } as const;
const release = { for: 10 * MINUTE, then: "release" } as const;
const hashKey = (key: string) => `h${key.length}|${[...key].toReversed().join("")}`;

describe.each(storesAndRedis)("holds on %s", (_, open) => {
  async function setUp(more: object = {}) {
    const opened = await open();
    const clock = createManualClock();
    const limiterOf = (store: RateLimitStore) =>
      createRateLimiter({ store, clock, limits, ...more });
    return {
      clock,
      limiter: limiterOf(opened.store),
      peer: limiterOf(opened.peer),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  it("of keys that look like one another stay apart, and so do ids", async () => {
    await using at = await setUp();
    const pairs = ["a", "a|", "a|b", "a\\", "a\\|", "|"].flatMap((key) =>
      ["b", "|b", "\\", "x".repeat(180)].map((once) => ({ key, once })),
    );
    for (const pair of pairs) {
      await at.limiter.limit("quota", { ...pair, count: 10, hold: release });
    }
    for (const { key } of pairs) {
      const found = await at.peer.holds("quota", { key });
      const ids = pairs.filter((pair) => pair.key === key).map(({ once }) => once);
      expect(found.map(({ once }) => once).toSorted()).toEqual(ids.toSorted());
    }
    for (const pair of pairs) {
      const settled = await at.peer.settle("quota", pair, 4);
      expect(settled).toMatchObject({ settled: true, count: 10 });
    }
    for (const { key } of pairs) {
      expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 84, held: 0 });
    }
  });

  it("of hashed keys are found, settled and forgotten", async () => {
    await using at = await setUp({ hashKey });
    const key = "user@example.com";
    await at.limiter.limit("quota", { key, count: 60, once: "a", hold: release });
    await at.limiter.limit("quota", { key, count: 40, once: "b", hold: { ...keep, for: HOUR } });
    at.clock.advance(10 * MINUTE);
    expect(await at.peer.limit("quota", { key, count: 30 })).toMatchObject({ value: 30 });
    const found = await at.peer.holds("quota", { key });
    expect(found.map(({ once }) => once)).toEqual([hashKey("b")]);
    expect(await at.peer.settle("quota", { key, once: "b" }, 10)).toMatchObject({ value: 60 });
    await at.peer.forget(key);
    expect(await at.limiter.getValue("quota", { key })).toMatchObject({ value: 100, held: 0 });
  });

  it("of the bucket that all callers share are found, and are no rows of the limit", async () => {
    await using at = await setUp();
    await at.limiter.limit("quota", { count: 60, once: "a", hold: release });
    await at.limiter.limit("quota", { key: "a", count: 60, once: "a", hold: keep });
    at.clock.advance(10 * MINUTE);
    expect(await at.peer.limit("quota", { count: 100 })).toMatchObject({ ok: true, value: 0 });
    expect(await at.peer.holds("quota")).toEqual([]);
    expect(await at.peer.holds("quota", { key: "a" })).toHaveLength(1);
    const { items } = await at.peer.list("quota");
    expect(items).toHaveLength(2);
  });

  it("come back whole where the clock has gone back", async () => {
    await using at = await setUp();
    const key = "user";
    await at.limiter.limit("tokens", { key, count: 60, once: "a", hold: release });
    at.clock.advance(-HOUR);
    const settled = await at.peer.settle("tokens", { key, once: "a" }, 10);
    expect(settled).toEqual({ settled: true, count: 60, value: 90 });
    await at.limiter.limit("tokens", { key, count: 60, once: "b", hold: release });
    at.clock.advance(HOUR);
    // The bucket had gone an hour ahead: nothing is said of it twice.
    expect(await at.peer.limit("tokens", { key, count: 100 })).toMatchObject({ ok: false });
  });

  it("that are open survive prune, with their markers", async () => {
    await using at = await setUp({ onceFor: 2 * DAY });
    const key = "user";
    await at.limiter.limit("tokens", { key, count: 60, once: "a", hold: { ...keep, for: DAY } });
    at.clock.advance(DAY - 1);
    // The bucket is full again, and its row goes.
    await at.peer.prune();
    expect(await at.peer.settle("tokens", { key, once: "a" }, 0)).toEqual({
      settled: true,
      count: 60,
      value: 100,
    });
  });
});

it("have ids of up to 191 characters together with their key", async () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  const call = { key: "k", once: "x".repeat(189), hold: keep };
  expect(await limiter.limit("quota", call)).toMatchObject({ ok: true });
  const longer = limiter.limit("quota", { ...call, once: "x".repeat(190) });
  await expect(longer).rejects.toThrow(/once must have at most 190 characters/);
});
