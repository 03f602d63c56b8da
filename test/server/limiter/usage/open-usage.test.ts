/** The answers of `limiter.usage`, on each store. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

/** Midnight UTC. */
const START = Date.UTC(2030, 0, 1);
const limits = {
  send: { kind: "token bucket", rate: 3, period: DAY, usage: true },
  tokens: { kind: "fixed window", rate: 1e6, period: DAY, usage: { keep: 2 * DAY } },
  credits: { kind: "credits", usage: { every: DAY } },
  spread: { kind: "token bucket", rate: 1000, period: DAY, shards: 5, usage: true },
  plain: { kind: "token bucket", rate: 3, period: DAY },
} as const;
const none = { granted: 0, denied: 0, taken: 0, givenBack: 0 };
const hours = (count: number) => ({ from: START, to: START + count * HOUR });

describe.each(storesAndRedis)("usage on %s", (_name, open) => {
  it("counts by key and hour, and all keys together", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, {
      now: START + 5 * MINUTE,
      isNew: true,
    });
    for (let i = 0; i < 4; i++) await limiter.limit("send", { key: "ann" });
    await limiter.limit("send", { key: "bob" });
    await limiter.limit("send");
    await limiter.check("send", { key: "ann" });
    await limiter.getValue("send", { key: "ann" });
    clock.advance(HOUR);
    const result = await limiter.limit("tokens", { key: "ann", count: 1000.5 });
    await limiter.settle(result, 400);
    await limiter.settle(result, 2000);
    await limiter.charge("tokens", { key: "ann", count: 7 });
    await limiter.limit("plain", { key: "ann" });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => limiter.limit("spread", { key: "ann", count: 1 + i })),
    );

    const ann = await limiter.usage("send", { key: "ann", ...hours(2) });
    expect(ann.items).toEqual([
      { ...none, start: START, end: START + HOUR, granted: 3, denied: 1, taken: 3 },
      { ...none, start: START + HOUR, end: START + 2 * HOUR },
    ]);
    expect(ann.total).toEqual({ ...none, granted: 3, denied: 1, taken: 3 });
    const all = { ...none, granted: 5, denied: 1, taken: 5 };
    expect((await limiter.usage("send", hours(2))).total).toEqual(all);
    const tokens = await limiter.usage("tokens", { key: "ann", ...hours(2), every: 2 * HOUR });
    const used = { granted: 1, denied: 0, taken: 1000.5 + 1600 + 7, givenBack: 600.5 };
    expect(tokens.items).toEqual([{ start: START, end: START + 2 * HOUR, ...used }]);
    const spread = await limiter.usage("spread", { key: "ann", ...hours(2) });
    expect(spread.total).toEqual({ ...none, granted: 20, taken: 210 });
    await expect(limiter.usage("plain" as "send", hours(1))).rejects.toThrow(
      /set usage: true of "plain"/,
    );
  });

  it("tells keys apart that differ in bars and backslashes, by their hash where there is one", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits, { now: START, isNew: true });
    const hashing = createRateLimiter({ store, limits, clock, hashKey: (key) => `h|${key}` });
    const keys = ["a", "a|", "a|b", "a\\", "a\\|b", "a\\\\", "|", "\\", `a|${START}`, "é", "A"];
    for (const [i, key] of keys.entries()) {
      await limiter.charge("tokens", { key, count: i + 2 });
      await hashing.charge("tokens", { key, count: 100 + i });
    }
    await hashing.flushUsage();
    for (const [i, key] of keys.entries()) {
      expect((await limiter.usage("tokens", { key, ...hours(1) })).total.taken).toBe(i + 2);
      expect((await hashing.usage("tokens", { key, ...hours(1) })).total.taken).toBe(100 + i);
    }
    const sum = keys.reduce((all, _, i) => all + i + 2 + 100 + i, 0);
    expect((await limiter.usage("tokens", hours(1))).total.taken).toBe(sum);
  });

  it("adds what several processes write to the same rows at the same time", async () => {
    await using opened = await open({ isNew: true });
    const clock = createManualClock(START);
    const processes = [opened.store, opened.peer, opened.store].map((store) =>
      createRateLimiter({ store, limits, clock }),
    );
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        processes.map(async (limiter, i) => {
          await limiter.charge("tokens", { key: `k${round % 3}`, count: 1 + i });
          await limiter.limit("tokens", { key: "all", count: 2 ** 10 + i });
          await limiter.flushUsage();
        }),
      );
    }
    const [one] = processes;
    const all = await one!.usage("tokens", { key: "all", ...hours(1) });
    expect(all.total).toEqual({ ...none, granted: 30, taken: 30 * 2 ** 10 + 30 });
    const keys = await Promise.all(
      [0, 1, 2].map((i) => one!.usage("tokens", { key: `k${i}`, ...hours(1) })),
    );
    expect(keys.map(({ total }) => total.taken)).toEqual([24, 18, 18]);
  });

  it("counts whole numbers up to 2^52 exactly, whatever the clock does meanwhile", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, {
      now: START + HOUR - 1,
      isNew: true,
    });
    const counts = [2 ** 51, 2 ** 51 - 7, 3, 1, 2];
    for (const [i, count] of counts.entries()) {
      clock.set(START + HOUR - 1);
      await limiter.charge("credits", { key: "ann", count });
      // Written long after and long before the span.
      clock.advance([5 * HOUR, -3 * DAY, 30 * DAY, 0, -HOUR][i]!);
      await limiter.flushUsage();
    }
    const day = { from: START, to: START + DAY };
    const { total } = await limiter.usage("credits", { key: "ann", ...day });
    expect(total.taken).toBe(2 ** 52 - 1);
  });
});

describe.each(storesAndRedis)("rows of usage on %s", (_name, open) => {
  it("go with their key, and are on no list", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, {
      now: START,
      isNew: true,
      flushUsage: 1e9,
    });
    for (const key of ["ann", "ann|", "ann2"]) {
      for (let i = 0; i < 5; i++) await limiter.limit("send", { key });
    }
    await limiter.flushUsage();
    // Not written yet.
    for (const key of ["ann", "ann2"]) await limiter.limit("send", { key });
    clock.advance(HOUR);
    await limiter.limit("send", { key: "ann" });
    // Its bucket, and the counters of calls granted and denied.
    expect(await limiter.forget("ann")).toBe(3);
    const total = async (key?: string) =>
      (await limiter.usage("send", { ...(key && { key }), ...hours(2) })).total;
    expect(await total("ann")).toEqual(none);
    expect(await total("ann|")).toEqual({ ...none, granted: 3, denied: 2, taken: 3 });
    expect(await total("ann2")).toEqual({ ...none, granted: 3, denied: 3, taken: 3 });
    expect(await total()).toEqual({ ...none, granted: 9, denied: 9, taken: 9 });
    const { items } = await limiter.list("send");
    expect(items.map(({ key }) => String(key)).toSorted()).toEqual(["ann2", "ann|"]);
  });
});

describe.each(stores)("rows of usage on %s", (_name, open) => {
  it("are pruned when they have been kept, and no earlier", async () => {
    const { clock, limiter } = await twoProcesses(open, limits, {
      now: START + 30 * MINUTE,
      isNew: true,
    });
    await limiter.charge("tokens", { key: "ann", count: 5 });
    await limiter.limit("tokens", { key: "ann" });
    await limiter.flushUsage();
    const total = async () =>
      (await limiter.usage("tokens", { key: "ann", from: START, to: START + DAY })).total;
    // The bucket is full again the next day. The span ends after an hour, and is kept for two days.
    clock.set(START + HOUR + 2 * DAY);
    await limiter.prune();
    expect(await total()).toEqual({ ...none, granted: 1, taken: 6 });
    clock.advance(2 * MINUTE);
    expect(await limiter.prune()).toBe(4);
    expect(await total()).toEqual(none);
  });

  it("count what a transaction commits, once, and nothing of one that is rolled back", async () => {
    const { limiter } = await twoProcesses(open, limits, { now: START, isNew: true });
    const before = await limiter.limit("tokens", { key: "ann", count: 100 });
    let tries = 0;
    await limiter.transaction(async (tx) => {
      tries++;
      const result = await tx.limit("tokens", { key: "ann", count: 10 });
      await tx.settle(result, 4);
      await tx.settle(before, 90);
      await tx.limit("send", { key: "ann" });
    });
    expect(tries).toBe(1);
    const rollBack = limiter.transaction(async (tx) => {
      await tx.limit("tokens", { key: "ann", count: 1000 });
      await tx.settle(before, 0);
      throw new Error("roll back");
    });
    await expect(rollBack).rejects.toThrow("roll back");
    const { total } = await limiter.usage("tokens", { key: "ann", ...hours(1) });
    expect(total).toEqual({ ...none, granted: 2, taken: 110, givenBack: 16 });
    const sent = await limiter.usage("send", { key: "ann", ...hours(1) });
    expect(sent.total.granted).toBe(1);
  });
});

describe("usage", () => {
  const open = (now: number) => {
    const clock = createManualClock(now);
    const store = memoryStore();
    return { clock, store, limiter: createRateLimiter({ store, limits, clock }) };
  };

  it("is looked at by autoPrune once a day", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { clock, store } = open(START);
    const pruned: string[][] = [];
    const counting = {
      ...store,
      prune(terms: Parameters<NonNullable<typeof store.prune>>[0]) {
        pruned.push([...terms.configs.keys()]);
        return store.prune!(terms);
      },
    };
    const kept = { tokens: { ...limits.tokens, usage: { every: HOUR, keep: HOUR } } } as const;
    const options = { limits: kept, clock, autoPrune: { every: HOUR } };
    const one = createRateLimiter({ ...options, store: counting });
    createRateLimiter({ ...options, store: counting });
    await one.limit("tokens", { key: "ann" });
    await one.flushUsage();
    for (let minute = 0; minute < 49 * 60; minute++) {
      clock.advance(MINUTE);
      await vi.advanceTimersByTimeAsync(MINUTE);
    }
    const name = "trpc-rate-limit:usage:tokens";
    const looks = pruned.filter((names) => names.includes(name)).length;
    expect(pruned.length).toBeGreaterThan(40);
    expect(looks).toBeGreaterThanOrEqual(2);
    expect(looks).toBeLessThanOrEqual(4);
    expect(await store.list!(name, undefined, 9)).toEqual([]);
  });

  it("is counted in the hour in which a call is answered, also when the clock goes back", async () => {
    const { clock, limiter } = open(START + HOUR - 1);
    const charge = () => limiter.charge("tokens", { key: "ann", count: 2 });
    await charge();
    clock.advance(1);
    await charge();
    await charge();
    clock.advance(-1);
    await charge();
    const { items } = await limiter.usage("tokens", { key: "ann", ...hours(3) });
    expect(items.map(({ taken }) => taken)).toEqual([4, 4, 0]);
  });

  it("of a transaction is told after its commit", async () => {
    const { limiter } = open(START);
    const granted = async () =>
      (await limiter.usage("send", { key: "ann", ...hours(1) })).total.granted;
    await limiter.transaction(async (tx) => {
      await tx.limit("send", { key: "ann" });
      expect(await granted()).toBe(0);
    });
    expect(await granted()).toBe(1);
  });

  it("of a transaction of the caller's own is counted when a call is answered", async () => {
    const { limiter, store } = open(START);
    const rolledBack = store.transaction!(async (tx) => {
      await limiter.using(tx).limit("send", { key: "ann" });
      throw new Error("roll back");
    }, {});
    await expect(rolledBack).rejects.toThrow("roll back");
    const { total } = await limiter.usage("send", { key: "ann", ...hours(1) });
    expect(total.granted).toBe(1);
    expect((await limiter.getValue("send", { key: "ann" })).value).toBe(3);
  });

  it("has whole spans, and items that are counted from the first of them", async () => {
    const { clock, limiter } = open(START);
    for (let hour = 0; hour < 30; hour++) {
      clock.set(START + hour * HOUR + MINUTE);
      await limiter.charge("tokens", { count: 2 ** hour });
    }
    const { items, total } = await limiter.usage("tokens", {
      from: START + 5 * HOUR,
      to: START + 13 * HOUR,
      every: 3 * HOUR,
    });
    expect(items.map(({ start, end }) => [start, end].map((at) => (at - START) / HOUR))).toEqual([
      [5, 8],
      [8, 11],
      [11, 13],
    ]);
    expect(items.map(({ taken }) => taken)).toEqual([
      2 ** 8 - 2 ** 5,
      2 ** 11 - 2 ** 8,
      2 ** 13 - 2 ** 11,
    ]);
    expect(total.taken).toBe(2 ** 13 - 2 ** 5);
  });

  it("is read in trips of a bounded size", async () => {
    const { store, clock } = open(START);
    const trips: number[] = [];
    const counting: typeof store = {
      ...store,
      apply(decisions, ...rest) {
        trips.push(decisions.reduce((sum, { rows }) => sum + rows.length, 0));
        return store.apply(decisions, ...rest);
      },
    };
    const limiter = createRateLimiter({ store: counting, limits, clock });
    await limiter.charge("tokens", { count: 3 });
    await limiter.flushUsage();
    trips.length = 0;
    const year = { from: START - 365 * DAY, to: START + HOUR };
    const { items, total } = await limiter.usage("tokens", year);
    expect(total.taken).toBe(3);
    expect(items).toHaveLength(365 * 24 + 1);
    expect(Math.max(...trips)).toBe(2000);
    expect(trips.length).toBe(Math.ceil(items.length / 400));
  });

  it("is not shown to clients, and refuses a key without room for an instant", async () => {
    const { limiter } = open(START);
    const result = await limiter.limit("send", { key: "ann", count: 3 });
    expect(result.ok).toBe(true);
    expect(limiter.configOf("send", { key: "ann" })).not.toHaveProperty("usage");
    const [snapshot] = await limiter.snapshots([{ name: "send", key: "ann" }]);
    expect(snapshot!.config).not.toHaveProperty("usage");
    await expect(limiter.limit("send", { key: "k".repeat(175) })).rejects.toThrow(
      /at most 174 characters/,
    );
    await limiter.limit("plain", { key: "k".repeat(191) });
  });

  it("is that of the limit for calls with a config of their own, and of the call for other names", async () => {
    const { limiter } = open(START);
    const config = { kind: "fixed window", rate: 50, period: DAY } as const;
    await limiter.limit("send", { key: "ann", count: 20, config });
    const sent = await limiter.usage("send", { key: "ann", ...hours(1) });
    expect(sent.total.taken).toBe(20);
    const counting = { ...config, usage: true } as const;
    await limiter.limit("one-off", { key: "ann", config: counting });
    const other = await limiter.usage("one-off", { key: "ann", config: counting, ...hours(1) });
    expect(other.total.granted).toBe(1);
  });
});
