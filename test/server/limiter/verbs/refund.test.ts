/** Tokens that are given back must arrive, also if a limit has many rows. */
import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  isRateLimitError,
  memoryStore,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { type Pair, pairsOf } from "../../../support/world.js";

const [AB, AC, , , , CD] = pairsOf(4) as [Pair, Pair, Pair, Pair, Pair, Pair];

function setUp(store: RateLimitStore = memoryStore()) {
  let dice: number[] = [];
  const clock = createManualClock();
  const limiter = createRateLimiter({
    store,
    clock,
    sleep: clock.sleep,
    random: () => dice.shift()!,
    limits: { hot: { kind: "token bucket", rate: 8, period: SECOND, shards: 4 } },
  });
  const left = async () => (await limiter.getValue("hot")).value;
  /** Sets the pairs of shards that the next calls use. */
  const see = (...pairs: Pair[]) => void (dice = pairs.flat());
  return { clock, limiter, left, see };
}

describe("tokens given back to full shards", () => {
  it.each(storesAndRedis)("go to the other shards, on %s", async (_name, open) => {
    await using opened = await open();
    const { limiter, left, see } = setUp(opened.store);
    see(AB, CD);
    await limiter.limit("hot", { count: 4 });
    expect(await left()).toBe(4);
    expect(await limiter.refund("hot", { count: 3 })).toEqual({ value: 7 });
    expect(await left()).toBe(7);
  });

  it("take one round trip if the first shards have room", async () => {
    const memory = memoryStore();
    const apply = vi.fn(memory.apply);
    const { limiter, see } = setUp({ ...memory, apply } as RateLimitStore);
    see(AB, AB);
    await limiter.limit("hot", { count: 4 });
    await limiter.refund("hot", { count: 4 });
    expect(apply).toHaveBeenCalledTimes(2);
  });

  it("go to the other shards in part, and never above the capacity", async () => {
    const { limiter, left, see } = setUp();
    see(AB, AC, CD);
    await limiter.limit("hot", { count: 4 });
    expect(await limiter.refund("hot", { count: 3 })).toEqual({ value: 7 });
    expect(await limiter.refund("hot", { count: 100 })).toEqual({ value: 8 });
    expect(await left()).toBe(8);
  });

  it("go to the other shards inside a transaction, and when a wait is aborted", async () => {
    const { clock, limiter, left, see } = setUp();
    see(AB, CD);
    await limiter.transaction(async ({ limit, refund }) => {
      await limit("hot", { count: 4 });
      await refund("hot", { count: 4 });
    });
    expect(await left()).toBe(8);
    see(AB, AB, CD);
    await limiter.limit("hot", { count: 4 });
    const controller = new AbortController();
    const waiting = limiter.acquire("hot", { count: 2, signal: controller.signal });
    while (clock.sleepers() < 1) await Promise.resolve();
    expect(await left()).toBe(2);
    controller.abort(new Error("changed my mind"));
    await expect(waiting).rejects.toThrow("changed my mind");
    expect(await left()).toBe(4);
  });
});

describe("acquire", () => {
  it("treats a negative maxWait as 0", async () => {
    const { limiter, see } = setUp();
    see(AB, AB);
    expect(await limiter.acquire("hot", { count: 4, maxWait: -5 })).toMatchObject({
      ok: true,
      value: 0,
    });
    const late: unknown = await limiter
      .acquire("hot", { count: 1, maxWait: -5 })
      .catch((error: unknown) => error);
    expect(isRateLimitError(late) && late.data.rateLimit).toMatchObject({
      retryAfter: 500,
      value: 0,
    });
  });

  it("gives its tokens back when it was aborted meanwhile, and takes none after that", async () => {
    const controller = new AbortController();
    const memory = memoryStore();
    const apply = vi.fn(memory.apply).mockImplementationOnce((...args) => {
      controller.abort(new Error("changed my mind"));
      return memory.apply(...args);
    });
    const { limiter, left, see } = setUp({ ...memory, apply } as RateLimitStore);
    see(AB, AB);
    const options = { count: 2, signal: controller.signal };
    await expect(limiter.acquire("hot", options)).rejects.toThrow("changed my mind");
    expect(await left()).toBe(8);
    apply.mockClear();
    await expect(limiter.acquire("hot", options)).rejects.toThrow("changed my mind");
    expect(apply).not.toHaveBeenCalled();
  });
});
