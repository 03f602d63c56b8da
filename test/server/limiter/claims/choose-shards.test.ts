import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore, SECOND } from "../../../../server/index.js";

function setUp(shards: number, kind: "token bucket" | "fixed window" = "token bucket") {
  const clock = createManualClock();
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: { hot: { kind, rate: 1000, period: SECOND, shards, maxReserved: 100 } },
  });
  return { clock, limiter };
}

describe.each(["token bucket", "fixed window"] as const)("a sharded %s", (kind) => {
  it("never grants more than its capacity, and grants nearly all of it", async () => {
    const { limiter } = setUp(10, kind);
    let granted = 0;
    for (let i = 0; i < 2000; i++) if ((await limiter.limit("hot")).ok) granted++;
    expect(granted).toBeLessThanOrEqual(1000);
    expect(granted).toBeGreaterThan(950);
  });

  it("gives the sum of all its shards as its value", async () => {
    const { clock, limiter } = setUp(10, kind);
    expect(await limiter.getValue("hot")).toMatchObject({ value: 1000 });
    for (let i = 0; i < 250; i++) await limiter.limit("hot");
    expect((await limiter.getValue("hot")).value).toBeCloseTo(750);
    await limiter.reset("hot");
    expect(await limiter.getValue("hot")).toMatchObject({ value: 1000 });
    clock.advance(-500);
    expect(await limiter.getValue("hot")).toMatchObject({ value: 1000 });
  });

  it("combines two shards for a count that one shard does not hold", async () => {
    const { limiter } = setUp(10, kind);
    expect(await limiter.limit("hot", { count: 200 })).toMatchObject({ ok: true, value: 0 });
    await expect(limiter.limit("hot", { count: 201 })).rejects.toThrow(
      'count 201 can never be granted by "hot": the capacity of two of its 10 shards allows 200',
    );
  });

  it("reserves in the two shards that a call uses", async () => {
    const { limiter } = setUp(2, kind);
    await limiter.limit("hot", { count: 1000 });
    expect(await limiter.limit("hot", { count: 100, reserve: true })).toMatchObject({ ok: true });
    expect(await limiter.limit("hot", { count: 1, reserve: true })).toMatchObject({ ok: false });
    expect((await limiter.getValue("hot")).value).toBeCloseTo(-100);
  });

  it("gives a wait after which the same pair passes", async () => {
    const { clock, limiter } = setUp(2, kind);
    await limiter.limit("hot", { count: 1000 });
    const denied = await limiter.limit("hot", { count: 700 });
    clock.advance(denied.retryAfter! - 1);
    expect(await limiter.check("hot", { count: 700 })).toMatchObject({ ok: false, retryAfter: 1 });
    clock.advance(1);
    expect(await limiter.limit("hot", { count: 700 })).toMatchObject({ ok: true });
  });
});
