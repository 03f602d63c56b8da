/** `settle`: replaces an estimate by the real use, whatever happened meanwhile. */
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitInputError,
  type RateLimitResult,
  RateLimitStoreError,
  SECOND,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  tokens: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 100 },
  window: { kind: "fixed window", rate: 10, period: MINUTE, start: 0, capacity: 20 },
  spread: { kind: "token bucket", rate: 80, period: MINUTE, shards: 4 },
} as const;

describe.each(storesAndRedis)("settle on %s", (_, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    return {
      ...at,
      left: async (name: keyof typeof limits) => (await at.limiter.getValue(name)).value,
    };
  }

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it("gives back what was not used, and charges what was used beyond the estimate", async () => {
    const less = await at.limiter.limit("tokens", { count: 30 });
    await at.limiter.settle(less, 12.5);
    expect(await at.left("tokens")).toBe(47.5);
    const more = await at.limiter.limit("tokens", { count: 30 });
    await at.limiter.settle(more, 50);
    expect(await at.left("tokens")).toBe(-2.5);
    expect(await at.limiter.limit("tokens")).toMatchObject({ ok: false, retryAfter: 3500 });
    const { action, count, result } = at.events.find((event) => event.action === "charge")!;
    expect([action, count, result.value]).toEqual(["charge", 20, -2.5]);
  });

  it.each(["tokens", "window", "spread"] as const)(
    "the last of several counts, with %s",
    async (name) => {
      const full = await at.left(name);
      const result = await at.limiter.limit(name, { count: 10 });
      for (const actual of [10, 4, 4, 18, 6, 0, 10, 30, 0, 3]) {
        await at.limiter.settle(result, actual);
        expect(await at.left(name)).toBeCloseTo(full - actual, 9);
      }
    },
  );

  it("counts each correction once when several come at the same time, and the last one remains", async () => {
    for (const name of ["tokens", "spread"] as const) {
      const full = await at.left(name);
      const result = await at.limiter.limit(name, { count: 30 });
      for (const counts of [
        [10, 10, 10],
        [45, 45, 45],
        [20, 40, 5, 35, 10],
      ]) {
        await Promise.all(counts.map((actual) => at.limiter.settle(result, actual)));
        expect(await at.left(name)).toBeCloseTo(full - counts.at(-1)!, 9);
      }
      const many = await Promise.all([1, 2, 3, 4].map(() => at.peer.limit(name, { count: 5 })));
      await Promise.all(many.map((each, i) => at.peer.settle(each, 2 * i)));
      expect(await at.left(name)).toBeCloseTo(full - 10 - 12, 9);
    }
  });

  it("tokens of a sharded limit that took from two shards go back to both", async () => {
    const result = await at.limiter.limit("spread", { count: 36 });
    expect(result).toMatchObject({ ok: true, shards: [{}, {}] });
    await at.limiter.settle(result, 0);
    expect(await at.left("spread")).toBe(80);
    expect((await at.limiter.limit("spread", { count: 40 })).ok).toBe(true);
  });

  it("a reservation that used less shortens the wait of later ones, and gives no token twice", async () => {
    await at.limiter.limit("tokens", { count: 60 });
    const first = await at.limiter.limit("tokens", { count: 40, reserve: true });
    expect(first).toMatchObject({ ok: true, retryAfter: 40 * SECOND });
    await at.limiter.settle(first, 10);
    const second = await at.limiter.limit("tokens", { count: 5, reserve: true });
    expect(second).toMatchObject({ ok: true, retryAfter: 15 * SECOND });
    // The second one relies on the first one's debt of 10. What comes back must not pass it.
    await at.limiter.settle(first, 0);
    const third = await at.limiter.limit("tokens", { count: 5, reserve: true });
    expect(third.retryAfter).toBeGreaterThanOrEqual(15 * SECOND);
  });

  it("what refilled meanwhile, or came with a new window, is not given a second time", async () => {
    const slow = await at.limiter.limit("tokens", { count: 60 });
    at.clock.advance(45 * SECOND);
    await at.limiter.settle(slow, 0);
    expect(await at.left("tokens")).toBe(60);
    const old = await at.limiter.limit("window", { count: 20 });
    at.clock.advance(MINUTE);
    expect((await at.limiter.limit("window", { count: 10 })).ok).toBe(true);
    await at.limiter.settle(old, 0);
    // The window that began since has replaced 10 of the 20. It has given them to another call.
    expect(await at.left("window")).toBe(10);
    at.clock.advance(5 * MINUTE);
    await at.limiter.settle(old, 20);
    expect(await at.left("window")).toBe(0);
  });

  it("settles acquire and the items of limitAll", async () => {
    const acquired = await at.limiter.acquire("tokens", { count: 20 });
    await at.limiter.settle(acquired, 5);
    expect(await at.left("tokens")).toBe(55);
    const all = await at.limiter.limitAll([
      { name: "tokens", count: 20 },
      { name: "spread", count: 20 },
    ]);
    await at.limiter.settle(all.results[0]!, 0);
    await at.limiter.settle(all.results[1]!, 25);
    expect([await at.left("tokens"), await at.left("spread")]).toEqual([55, 55]);
  });

  it("an item of a denied limitAll took nothing, so nothing comes back", async () => {
    await at.limiter.limit("window", { count: 20 });
    await at.limiter.limit("tokens", { count: 40 });
    const denied = await at.limiter.limitAll([{ name: "tokens", count: 15 }, { name: "window" }]);
    expect(denied).toMatchObject({ ok: false, results: [{ ok: true }, { ok: false }] });
    for (const result of denied.results) {
      await expect(at.limiter.settle(result, 0)).rejects.toThrow(RateLimitInputError);
    }
    expect(await at.left("tokens")).toBe(20);
  });
});

describe("settle", () => {
  async function setUp() {
    const store = memoryStore();
    const clock = createManualClock();
    return { store, clock, limiter: createRateLimiter({ store, clock, limits }) };
  }

  it("rejects a copy, a denial, a check and what is no result, and says what to do", async () => {
    const { limiter } = await setUp();
    const result = await limiter.limit("window", { count: 20 });
    const copies = [{ ...result }, structuredClone(result), JSON.parse(JSON.stringify(result))];
    for (const copy of copies as RateLimitResult[]) {
      const error: unknown = await limiter.settle(copy, 1).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(RateLimitInputError);
      expect(error).toMatchObject({ reason: "result" });
      expect((error as Error).message).toContain(
        "not a copy: for a copy, use refund() or charge()",
      );
    }
    const denied = await limiter.limit("window");
    await expect(limiter.settle(denied, 1)).rejects.toThrow("a denied call took no tokens");
    const checked = await limiter.check("tokens");
    await expect(limiter.settle(checked, 0)).rejects.toThrow(RateLimitInputError);
    for (const wrong of [undefined, null, {}, { ok: true }, "granted", 1]) {
      const call = limiter.settle(wrong as never, 1);
      await expect(call).rejects.toThrow(RateLimitInputError);
    }
    for (const wrong of [-1, Infinity, -Infinity, "5", "NaN", {}]) {
      const call = limiter.settle(result, wrong as never);
      await expect(call).rejects.toThrow(RateLimitInputError);
    }
    expect((await limiter.getValue("window")).value).toBe(0);
  });

  it("leaves the result a plain object, equal to what it was", async () => {
    const { limiter, clock } = await setUp();
    const result = await limiter.limit("tokens", { count: 10 });
    await limiter.settle(result, 4);
    expect(JSON.stringify(result)).toBe(`{"ok":true,"value":50,"ts":${clock()}}`);
    expect(Object.getOwnPropertyNames(result)).toEqual(["ok", "value", "ts"]);
    expect(Object.isFrozen(Object.freeze(result))).toBe(true);
    await limiter.settle(result, 10);
    expect((await limiter.getValue("tokens")).value).toBe(50);
  });

  it("corrects the bucket and the config of the call, which had its own", async () => {
    const { limiter } = await setUp();
    const config = { kind: "token bucket", rate: 1000, period: MINUTE } as const;
    const result = await limiter.limit("tokens", { key: "ada", config, count: 500 });
    await limiter.settle(result, 100);
    expect((await limiter.getValue("tokens", { key: "ada", config })).value).toBe(900);
    expect((await limiter.getValue("tokens")).value).toBe(60);
  });

  it("settles again in each try of a transaction, and stays undone when it is rolled back", async () => {
    const { limiter } = await setUp();
    const left = async () => (await limiter.getValue("tokens")).value;
    const result = await limiter.limit("tokens", { count: 30 });
    let tries = 0;
    await limiter.transaction(async ({ settle }) => {
      await settle(result, 10);
      // The transaction conflicts with this call.
      if (tries++ === 0) await limiter.charge("tokens", { count: 1 });
    });
    expect(tries).toBe(2);
    expect(await left()).toBe(49);
    const stopped = limiter.transaction(async ({ settle }) => {
      await settle(result, 0);
      throw new Error("stop");
    });
    await expect(stopped).rejects.toThrow("stop");
    expect(await left()).toBe(49);
    await limiter.settle(result, 0);
    expect(await left()).toBe(59);
  });

  it("charges again after a store that failed, and gives nothing back again", async () => {
    const { store, clock } = await setUp();
    const { submit: _, ...memory } = store;
    let isLost = false;
    const losing: typeof store = {
      ...memory,
      // The database decides, and its answer is lost.
      async apply(...args) {
        const results = await store.apply(...args);
        if (isLost) throw new RateLimitStoreError("the connection was closed");
        return results;
      },
    };
    const limiter = createRateLimiter({ store: losing, clock, limits, logger: false });
    const left = async () => (await limiter.getValue("tokens")).value;
    const settleTwice = async (actual: number) => {
      const result = await limiter.limit("tokens", { count: 20 });
      isLost = true;
      await expect(limiter.settle(result, actual)).rejects.toThrow("the connection was closed");
      isLost = false;
      await limiter.settle(result, actual);
    };
    await settleTwice(5);
    expect(await left()).toBe(55);
    await settleTwice(25);
    expect(await left()).toBe(25);
  });
});
