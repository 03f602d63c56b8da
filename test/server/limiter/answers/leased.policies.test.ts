/** A limit with a lease and other features: listeners, outages, shadows, upkeep. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  changeDigest,
  createRateLimiter,
  MINUTE,
  memoryStore,
  type RateLimitStore,
  RateLimitStoreError,
} from "../../../../server/index.js";
import { limits, MS, processes } from "../../../support/leased.js";

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
