/** A limit with a lease: a process takes tokens in blocks, and serves calls from its memory. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  changeDigest,
  createRateLimiter,
  type DecisionEvent,
  MINUTE,
  memoryStore,
  type RateLimitStore,
  RateLimitStoreError,
} from "../../../server/index.js";
import { stores } from "../../support/stores.js";

const MS = 10_000;
const CAPACITY = 6000;
/** What refills in the life of a block. */
const REFILL = 1000;
const hot = { kind: "token bucket", rate: 6000, period: MINUTE, lease: { ms: MS } } as const;
const limits = {
  hot,
  window: { ...hot, kind: "fixed window", start: 0 },
  shadow: { ...hot, shadow: true },
  open: { ...hot, whenStoreFails: "allow" },
  plain: { kind: "token bucket", rate: 6000, period: MINUTE },
} as const;
type Name = keyof typeof limits;

/** Two limiters, which are two processes to each other. */
function processes(store: RateLimitStore, peer: RateLimitStore) {
  const clock = createManualClock();
  const events: DecisionEvent[] = [];
  const onDecision = (event: DecisionEvent) => void events.push(event);
  const options = { clock, limits, sleep: clock.sleep, autoPrune: false };
  const own = createRateLimiter({ store, ...options, onDecision });
  const other = createRateLimiter({ store: peer, ...options });
  return {
    clock,
    events,
    own,
    other,
    /** Calls until this process has a block, which has many tokens then. */
    async warm(name: Name = "hot") {
      for (let i = 0; i < 60; i++) await own.limit(name);
      // The next block may be on its way.
      for (let i = 0; i < 20; i++) await setImmediate();
      return this.block(name);
    },
    row: async (name: Name = "hot") => (await other.getValue(name)).value,
    /** What this process has left of its blocks. */
    async block(name: Name = "hot") {
      return (await own.getValue(name)).value - (await other.getValue(name)).value;
    },
  };
}

describe.each(stores)("a leased limit on %s", (_, open) => {
  async function setUp() {
    const opened = await open();
    return Object.assign(processes(opened.store, opened.peer), {
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    });
  }

  it("serves calls from a block, and leaves the row alone", async () => {
    await using at = await setUp();
    const block = await at.warm();
    expect(block).toBeGreaterThanOrEqual(4);
    const before = await at.row();
    const result = await at.own.limit("hot", { count: 3 });
    expect(result).toMatchObject({ ok: true, value: before + block - 3 });
    expect([await at.row(), await at.block()]).toEqual([before, block - 3]);
    // What blocks are taken from is smaller by what refills in their life.
    expect(before + block).toBeLessThanOrEqual(CAPACITY - REFILL);
  });

  it("loses what is left of a block when its time is over", async () => {
    await using at = await setUp();
    await at.warm();
    const before = await at.row();
    at.clock.advance(MS - 11);
    expect(await at.block()).toBeGreaterThan(0);
    at.clock.advance(11);
    expect(await at.block()).toBe(0);
    expect(await at.row()).toBeCloseTo(before + REFILL);
    expect(await at.row()).toBeLessThan(CAPACITY);
  });

  it("gives back into the block while it lives, and never more than was taken", async () => {
    await using at = await setUp();
    const block = await at.warm();
    const [row, result] = [await at.row(), await at.own.limit("hot", { count: 4 })];
    await at.own.settle(result, 1);
    expect([await at.row(), await at.block()]).toEqual([row, block - 1]);
    expect(await at.own.refund("hot", { result, count: 10 })).toEqual({ value: row + block });
    await at.own.refund("hot", { result, count: 10 });
    expect([await at.row(), await at.block()]).toEqual([row, block]);
  });

  it("gives nothing back of a few tokens once their block is over", async () => {
    await using at = await setUp();
    await at.warm();
    const result = await at.own.limit("hot", { count: 4 });
    at.clock.advance(MS);
    const row = await at.row();
    await at.own.settle(result, 0);
    expect(await at.row()).toBe(row);
  });

  it("takes from the row what was used beyond the estimate, and what is charged", async () => {
    await using at = await setUp();
    const block = await at.warm();
    const [row, result] = [await at.row(), await at.own.limit("hot")];
    await at.own.settle(result, 11);
    await at.own.charge("hot", { count: 5 });
    expect([await at.row(), await at.block()]).toEqual([row - 15, block - 1]);
  });

  it("reserves from the row, and takes from it together with other limits", async () => {
    await using at = await setUp();
    const block = await at.warm();
    const row = await at.row();
    await at.own.limitAll([{ name: "hot", count: 2 }, { name: "plain" }]);
    await at.own.acquire("hot", { count: 3 });
    await at.own.limit("hot", { count: row, reserve: true });
    expect([await at.row(), await at.block()]).toEqual([-5, block]);
    const denied = await at.own.limitAll([{ name: "hot" }]);
    expect(denied).toMatchObject({ ok: false, retryAfter: 60 });
    expect(await at.own.limit("hot")).toMatchObject({ ok: true });
  });

  it("sees the row alone in a transaction", async () => {
    await using at = await setUp();
    const block = await at.warm();
    const row = await at.row();
    await at.own.transaction(async ({ limit, getValue, settle }) => {
      expect((await getValue("hot")).value).toBe(row);
      const result = await limit("hot", { count: 7 });
      await settle(result, 6);
    });
    expect(await at.row()).toBeLessThanOrEqual(row - 6);
    expect(await at.block()).toBe(block);
  });

  it.each(["reset", "forget", "reset in a transaction"] as const)(
    "ends its own block with a %s",
    async (how) => {
      await using at = await setUp();
      const key = "user";
      for (let i = 0; i < 60; i++) await at.own.limit("hot", { key });
      for (let i = 0; i < 20; i++) await setImmediate();
      if (how === "reset") await at.own.reset("hot", { key });
      if (how === "forget") await at.own.forget(key);
      if (how === "reset in a transaction") {
        await at.own.transaction((tx) => tx.reset("hot", { key }));
      }
      const value = async () => (await at.other.getValue("hot", { key })).value;
      expect(await value()).toBe(CAPACITY);
      await at.own.limit("hot", { key });
      expect(await value()).toBe(CAPACITY - 1);
    },
  );

  it("answers check with the row and the block, and with the wait of the row", async () => {
    await using at = await setUp();
    await at.warm();
    const row = await at.row();
    await at.other.limit("hot", { count: row });
    const block = await at.block();
    expect(await at.own.check("hot", { count: block })).toMatchObject({ ok: true, value: 0 });
    const denied = { ok: false, retryAfter: (block + 1) * 10, value: block };
    expect(await at.own.check("hot", { count: block + 1 })).toMatchObject(denied);
    expect(await at.own.limit("hot", { count: block })).toMatchObject({ ok: true });
    expect(await at.own.limit("hot")).toMatchObject({ ok: false, retryAfter: 10, value: 0 });
  });

  it("shows the row with the block, and no lease", async () => {
    await using at = await setUp();
    await at.warm();
    const [snapshot] = await at.own.snapshots([{ name: "hot" }]);
    expect(snapshot!.value).toBe((await at.row()) + (await at.block()));
    expect(snapshot!.config).not.toHaveProperty("lease");
    const { items } = await at.own.list("hot");
    expect(items[0]!.value).toBe(snapshot!.value);
  });

  it("has a block of a window until the window ends, and not after it", async () => {
    await using at = await setUp();
    const start = Math.ceil(at.clock() / MINUTE) * MINUTE;
    at.clock.set(start);
    const block = await at.warm("window");
    expect(block).toBeGreaterThan(0);
    at.clock.set(start + MINUTE - 11);
    expect(await at.block("window")).toBe(block);
    at.clock.set(start + MINUTE);
    expect(await at.block("window")).toBe(0);
    expect(await at.row("window")).toBe(6000);
  });

  it("has a block per config of a tier", async () => {
    await using at = await setUp();
    const config = { ...hot, rate: 12_000 };
    const block = await at.warm();
    for (let i = 0; i < 20; i++) await at.own.limit("hot", { config: { ...config } });
    expect(await at.block()).toBe(block);
    const own = await at.own.getValue("hot", { config });
    const row = await at.other.getValue("hot", { config });
    expect(own.value).toBeGreaterThan(row.value);
  });

  it("grants all tokens and none more to calls at the same time", async () => {
    await using at = await setUp();
    await at.warm();
    const calls = Array.from({ length: 8000 }, (_each, i) => {
      return (i % 2 ? at.own : at.other).limit("hot");
    });
    const granted = (await Promise.all(calls)).filter(({ ok }) => ok).length;
    const left = (await at.own.getValue("hot")).value;
    expect(60 + granted).toBeLessThanOrEqual(CAPACITY);
    // The other process may have tokens left, and blocks cost what refills in their life.
    expect(60 + granted + left).toBeGreaterThan((CAPACITY - REFILL) / 2);
  });
});

/** A store that fails, or does not answer, when the test says so. */
function brittle(inner: RateLimitStore) {
  const state: { fails: boolean; pause: Promise<void> | undefined } = {
    fails: false,
    pause: undefined,
  };
  const store: RateLimitStore = {
    async apply(decisions, call) {
      await state.pause;
      if (state.fails) throw new RateLimitStoreError("away", { isOutage: true });
      return inner.apply(decisions, call);
    },
  };
  return { store, state };
}

describe("a leased limit", () => {
  const inMemory = () => {
    const store = memoryStore();
    return processes(store, store);
  };

  it("tells onDecision of each call, and listeners of changes of each lease", async () => {
    const at = inMemory();
    await at.warm();
    at.events.length = 0;
    const digests: string[] = [];
    at.own.onChange((digest) => digests.push(digest));
    const count = await at.block();
    for (let i = 0; i < count - 10; i++) await at.own.limit("hot");
    expect(at.events).toHaveLength(count - 10);
    expect(new Set(at.events.map(({ action }) => action))).toEqual(new Set(["limit"]));
    expect(digests.length).toBeLessThanOrEqual(1);
    for (let i = 0; i < 20; i++) await at.own.limit("hot");
    await setImmediate();
    expect(digests).toContain(changeDigest("hot", undefined));
  });

  it("goes on in an outage while it has tokens, and then fails as every limit does", async () => {
    const { store, state } = brittle(memoryStore());
    const at = processes(store, store);
    for (const name of ["hot", "open"] as const) {
      await at.warm(name);
      const block = await at.block(name);
      state.fails = true;
      expect(await at.own.limit(name, { count: block })).toMatchObject({ ok: true });
      const after = at.own.limit(name);
      if (name === "hot")
        await expect(after).rejects.toMatchObject({ name: "RateLimitStoreError" });
      else expect(await after).toMatchObject({ ok: true, storeFailed: true });
      state.fails = false;
    }
  });

  it("loses the tokens of a take whose answer is lost, and the calls that waited fail", async () => {
    const inner = memoryStore();
    let loses = false;
    const store: RateLimitStore = {
      async apply(decisions, call) {
        const results = await inner.apply(decisions, call);
        if (loses) throw new RateLimitStoreError("the answer was lost", { isOutage: true });
        return results;
      },
    };
    const at = processes(store, inner);
    await at.warm();
    await at.own.limit("hot", { count: await at.block() });
    for (let i = 0; i < 20; i++) await setImmediate();
    await at.own.limit("hot", { count: await at.block() });
    loses = true;
    const row = await at.row();
    const calls = await Promise.allSettled([1, 2, 3].map(() => at.own.limit("hot")));
    expect(calls.map(({ status }) => status)).toContain("rejected");
    loses = false;
    expect(await at.row()).toBeLessThan(row);
    expect(await at.own.limit("hot")).toMatchObject({ ok: true });
  });

  it("lets calls wait for a take that is under way, instead of taking alone", async () => {
    const inner = memoryStore();
    let trips = 0;
    const store: RateLimitStore = {
      async apply(decisions, call) {
        trips++;
        await setImmediate();
        return inner.apply(decisions, call);
      },
    };
    const at = processes(store, inner);
    await at.warm();
    at.clock.advance(MS);
    trips = 0;
    const results = await Promise.all(Array.from({ length: 100 }, () => at.own.limit("hot")));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(trips).toBeLessThan(5);
  });

  it("ends with a reset also the block that is on its way", async () => {
    const { store, state } = brittle(memoryStore());
    const at = processes(store, store);
    await at.warm();
    at.clock.advance(MS);
    let go = () => {};
    state.pause = new Promise((resolve) => (go = resolve));
    const waiting = at.own.limit("hot");
    await setImmediate();
    const resetting = at.own.reset("hot");
    go();
    state.pause = undefined;
    expect(await waiting).toMatchObject({ ok: true });
    await resetting;
    expect(await at.block()).toBe(0);
  });

  it("is never leased by many processes with few calls each, which lose nothing", async () => {
    const clock = createManualClock();
    const store = memoryStore();
    const config = { kind: "token bucket", rate: 10, period: MINUTE, lease: { ms: 1000 } } as const;
    const options = { store, clock, limits: { few: config } };
    const all = Array.from({ length: 20 }, () => createRateLimiter(options));
    let granted = 0;
    for (const limiter of all) if ((await limiter.limit("few")).ok) granted++;
    expect(granted).toBe(10);
    for (let minute = 0; minute < 30; minute++) {
      for (let i = 0; i < 20; i++) {
        clock.advance(3000);
        if ((await all[i]!.limit("few")).ok) granted++;
      }
    }
    expect(granted).toBe(10 + 300);
  });

  it("reports what the row says where it is a shadow", async () => {
    const at = inMemory();
    await at.warm("shadow");
    const [row, block] = [await at.row("shadow"), await at.block("shadow")];
    await at.other.limit("shadow", { count: row });
    expect(await at.own.limit("shadow", { count: block })).toMatchObject({ ok: true });
    expect(await at.own.limit("shadow")).toMatchObject({ ok: true, shadow: { ok: false } });
  });

  it("repeats a denial from memory only where no block serves the call", async () => {
    const store = memoryStore();
    const clock = createManualClock();
    const options = { store, clock, limits, rememberDenials: 60_000 };
    const [own, other] = [createRateLimiter(options), createRateLimiter(options)];
    for (let i = 0; i < 60; i++) await own.limit("hot");
    await other.limit("hot", { count: (await other.getValue("hot")).value });
    const block = (await own.getValue("hot")).value;
    expect(await own.limit("hot", { count: block + 1 })).toMatchObject({ ok: false });
    const again = await own.limit("hot", { count: block + 1 });
    expect(again).toMatchObject({ ok: false, remembered: true });
    expect(await own.limit("hot", { count: block })).toMatchObject({ ok: true });
  });

  it("gives back what an aborted wait had reserved", async () => {
    const at = inMemory();
    await at.warm();
    const row = await at.row();
    const abort = new AbortController();
    const acquiring = at.own.acquire("hot", { count: row + 50, signal: abort.signal });
    await setImmediate();
    expect(await at.row()).toBeCloseTo(-50);
    abort.abort(new Error("gone"));
    await expect(acquiring).rejects.toThrow("gone");
    expect(await at.row()).toBeCloseTo(row);
  });

  it("keeps its row in a prune while a block lives", async () => {
    const at = inMemory();
    await at.warm();
    expect(await at.own.prune()).toBe(0);
    at.clock.advance(MS - 11);
    expect(await at.block()).toBeGreaterThan(0);
    expect(await at.own.prune()).toBe(0);
    at.clock.advance(3 * MINUTE);
    expect(await at.own.prune()).toBe(1);
  });
});
