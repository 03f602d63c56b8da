/** The receipt in a result: `settle` and `refund` give no token back twice. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitInputError,
  type RateLimitResult,
  type RateLimitStore,
  RateLimitStoreError,
} from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";

const limits = {
  tokens: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 100 },
  window: { kind: "fixed window", rate: 60, period: MINUTE, start: 0 },
  spread: { kind: "token bucket", rate: 80, period: MINUTE, shards: 4 },
  shadow: { kind: "token bucket", rate: 60, period: MINUTE, shadow: true },
} as const;
type Name = keyof typeof limits;

function setUp(store: RateLimitStore) {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store, clock, limits, logger: false });
  return {
    clock,
    limiter,
    left: async (name: Name) => (await limiter.getValue(name)).value,
  };
}

function inMemory() {
  const store = memoryStore() as RateLimitStore;
  return { store, ...setUp(store) };
}

const failing = async (call: Promise<unknown>) => {
  await expect(call).rejects.toThrow("stop");
};

describe.each(stores)("refund and settle of one result on %s", (_, open) => {
  it.each(["tokens", "window", "spread"] as const)(
    "give back together what the call took, and no more, with %s",
    async (name) => {
      await using opened = await open();
      const { limiter, left } = setUp(opened.store);
      const full = await left(name);
      await limiter.charge(name, { count: 20 });
      const result = await limiter.limit(name, { count: 4 });
      await limiter.refund(name, { count: 3, result });
      expect(await left(name)).toBeCloseTo(full - 21, 9);
      await limiter.settle(result, 0);
      expect(await left(name)).toBeCloseTo(full - 20, 9);
      await limiter.refund(name, { count: 9, result });
      await limiter.settle(result, 0);
      expect(await left(name)).toBeCloseTo(full - 20, 9);
    },
  );

  it.each(["itself", "in a transaction"])(
    "give back what was charged later by what has refilled since then (%s)",
    async (where) => {
      await using opened = await open();
      const { limiter, left, clock } = setUp(opened.store);
      const settleTo = (result: RateLimitResult, actual: number) =>
        where === "itself"
          ? limiter.settle(result, actual)
          : limiter.transaction(({ settle }) => settle(result, actual));
      await limiter.charge("tokens", { count: 50 });
      const result = await limiter.limit("tokens", { count: 5 });
      clock.advance(15_000);
      await settleTo(result, 15);
      expect(await left("tokens")).toBe(10);
      // Nothing has replaced these ten, and the refill has replaced the five of the call.
      await settleTo(result, 5);
      expect(await left("tokens")).toBe(20);
      await settleTo(result, 0);
      expect(await left("tokens")).toBe(20);
    },
  );

  it("are undone with the transaction that they are in, and the other stays", async () => {
    await using opened = await open();
    const { limiter, left } = setUp(opened.store);
    await limiter.charge("tokens", { count: 20 });
    const result = await limiter.limit("tokens", { count: 10 });
    await limiter.refund("tokens", { count: 3, result });
    await failing(
      limiter.transaction(async ({ refund, settle }) => {
        await refund("tokens", { count: 5, result });
        await settle(result, 15);
        await refund("tokens", { count: 15, result });
        throw new Error("stop");
      }),
    );
    expect(await left("tokens")).toBe(33);
    await limiter.transaction(({ refund }) => refund("tokens", { count: 5, result }));
    expect(await left("tokens")).toBe(38);
    await limiter.refund("tokens", { count: 10, result });
    expect(await left("tokens")).toBe(40);
  });

  it("give back nothing of a call whose transaction was rolled back", async () => {
    await using opened = await open();
    const { limiter, left } = setUp(opened.store);
    const taken: RateLimitResult[] = [];
    await failing(
      limiter.transaction(async ({ limit, limitAll }) => {
        taken.push(await limit("tokens", { count: 10 }));
        taken.push(...(await limitAll([{ name: "tokens", count: 10 }])).results);
        throw new Error("stop");
      }),
    );
    await limiter.charge("tokens", { count: 30 });
    await limiter.refund("tokens", { count: 10, result: taken[0]! });
    await limiter.settle(taken[1]!, 0);
    expect(await left("tokens")).toBe(30);
    await limiter.settle(taken[0]!, 5);
    expect(await left("tokens")).toBe(25);
  });
});

describe("refund with a result", () => {
  it("gives back no more than the call took, at the same time as settlements, too", async () => {
    const { limiter, left } = inMemory();
    await limiter.charge("tokens", { count: 30 });
    const two = await limiter.limit("tokens", { count: 2 });
    await limiter.refund("tokens", { count: 9, result: two });
    expect(await left("tokens")).toBe(30);
    const ten = await limiter.limit("tokens", { count: 10 });
    await Promise.all([
      limiter.refund("tokens", { count: 4, result: ten }),
      limiter.settle(ten, 0),
      limiter.refund("tokens", { count: 8, result: ten }),
      limiter.settle(ten, 0),
    ]);
    expect(await left("tokens")).toBe(30);
  });

  it("of an item of limitAll counts with its settlements", async () => {
    const { limiter, left } = inMemory();
    await limiter.charge("tokens", { count: 30 });
    const { results } = await limiter.limitAll([
      { name: "tokens", count: 4 },
      { name: "window", count: 1 },
    ]);
    await limiter.refund("tokens", { count: 4, result: results[0]! });
    await limiter.settle(results[0]!, 0);
    expect(await left("tokens")).toBe(30);
  });

  it("gives nothing back for a check, a denied limitAll, and a shadow that would deny", async () => {
    const { limiter } = inMemory();
    for (const name of ["tokens", "shadow"] as const) await limiter.charge(name, { count: 30 });
    await limiter.charge("window", { count: 60 });
    const checked = await limiter.check("tokens", { count: 10 });
    const denied = await limiter.limitAll([{ name: "tokens", count: 10 }, { name: "window" }]);
    const shadowed = await limiter.limit("shadow", { count: 40 });
    expect([checked.ok, denied.ok, shadowed.ok]).toEqual([true, false, true]);
    for (const result of [checked, denied.results[0]!]) {
      expect(await limiter.refund("tokens", { count: 10, result })).toEqual({ value: 30 });
    }
    expect(await limiter.refund("shadow", { count: 10, result: shadowed })).toEqual({ value: 30 });
  });

  it("of a copy gives back at most what the bucket lacked after the call, and no refill", async () => {
    const { limiter, left, clock } = inMemory();
    const copyOf = (result: RateLimitResult) =>
      JSON.parse(JSON.stringify(result)) as RateLimitResult;
    const result = copyOf(await limiter.limit("tokens", { count: 2 }));
    await limiter.charge("tokens", { count: 30 });
    await limiter.refund("tokens", { count: 9, result });
    expect(await left("tokens")).toBe(30);
    const late = copyOf(await limiter.limit("tokens", { count: 10 }));
    clock.advance(4000);
    await limiter.charge("tokens", { count: 4 });
    await limiter.refund("tokens", { count: 10, result: late });
    expect(await left("tokens")).toBe(26);
  });

  it("rejects the result of another limit, another key or another limiter", async () => {
    const { limiter, clock, store, left } = inMemory();
    const other = createRateLimiter({ store, clock, limits });
    const result = await limiter.limit("tokens", { count: 10 });
    const foreign = await other.limit("tokens", { count: 10 });
    for (const call of [
      limiter.refund("window", { result }),
      limiter.refund("tokens", { key: "ada", result }),
      limiter.refund("tokens", { result: foreign }),
      limiter.settle(foreign, 0),
      other.settle(result, 0),
    ]) {
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RateLimitInputError);
      expect(error).toMatchObject({ reason: "result" });
      expect((error as Error).message).toMatch(/another limiter|of "tokens"/);
    }
    expect(await left("tokens")).toBe(40);
  });
});

describe("a settlement in a transaction", () => {
  it("that is rolled back leaves one outside as it is", async () => {
    const { limiter, left } = inMemory();
    await limiter.charge("tokens", { count: 30 });
    const result = await limiter.limit("tokens", { count: 10 });
    await failing(
      limiter.transaction(async ({ settle }) => {
        await settle(result, 20);
        await limiter.settle(result, 0);
        throw new Error("stop");
      }),
    );
    expect(await left("tokens")).toBe(30);
    await limiter.settle(result, 0);
    expect(await left("tokens")).toBe(30);
  });

  it("that gives back gives nothing that one outside gives back meanwhile", async () => {
    const { limiter, left } = inMemory();
    await limiter.charge("tokens", { count: 30 });
    const result = await limiter.limit("tokens", { count: 10 });
    let tries = 0;
    await limiter.transaction(async ({ settle }) => {
      await settle(result, 4);
      if (tries++ === 0) await limiter.settle(result, 0);
    });
    expect(tries).toBe(2);
    // The first try was rolled back, and the call outside had the rest of it.
    await limiter.settle(result, 0);
    expect(await left("tokens")).toBe(30);
  });

  it("whose commit has no answer gives nothing back again", async () => {
    const { limiter: _, ...memory } = inMemory();
    let isLost = false;
    const losing: RateLimitStore = {
      ...memory.store,
      async transaction(...args) {
        const result = await memory.store.transaction!(...args);
        if (isLost) throw new RateLimitStoreError("the connection was closed");
        return result;
      },
    };
    const { limiter, left } = setUp(losing);
    await limiter.charge("tokens", { count: 30 });
    const result = await limiter.limit("tokens", { count: 10 });
    isLost = true;
    const call = limiter.transaction(({ settle }) => settle(result, 0));
    await expect(call).rejects.toThrow("the connection was closed");
    await limiter.settle(result, 0);
    await limiter.refund("tokens", { count: 10, result });
    expect(await left("tokens")).toBe(30);
  });
});
