/** When usage is written, and how it is kept while the store is down. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  type BatchEvent,
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  type RateLimiterOptions,
  RateLimitStoreError,
  type RateLimitStore,
} from "../../../../server/index.js";
import { UsageFlush } from "../../../../server/limiter/usage/usage-flush.js";
import { UsageSums } from "../../../../server/limiter/usage/usage-sums.js";
import { beforeExit } from "../../../../server/timers/before-exit.js";
import { createPostgres } from "../../../support/database.js";
import { openStore } from "../../../support/open-store.js";

const START = Date.UTC(2030, 0, 1);
const limits = {
  send: { kind: "fixed window", rate: 1e6, period: DAY, usage: true },
  plain: { kind: "fixed window", rate: 1e6, period: DAY },
} as const;
const ROWS = "trpc-rate-limit:usage:send";
const hour = { from: START, to: START + HOUR };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A limiter on a store whose writes of usage fail, or lose their answer, as long as a test wants. */
function setUp(options: Pick<RateLimiterOptions<typeof limits>, "flushUsage" | "waitUntil"> = {}) {
  const clock = createManualClock(START);
  const memory = memoryStore() as RateLimitStore;
  const fails: { how: "never" | "at once" | "after the write" } = { how: "never" };
  const writes: number[] = [];
  const store: RateLimitStore = {
    ...memory,
    async apply(decisions, ...rest) {
      const isUsage = decisions.some(({ rows: [row] }) => row!.name === ROWS);
      if (isUsage) writes.push(decisions.length);
      if (isUsage && fails.how === "at once") throw new RateLimitStoreError("down");
      const results = await memory.apply(decisions, ...rest);
      if (isUsage && fails.how === "after the write") throw new RateLimitStoreError("lost");
      return results;
    },
  };
  const logger = { error: vi.fn(), warn: vi.fn() };
  // Without a time-out, there is no other timer than that of usage.
  const limiter = createRateLimiter({
    store,
    limits,
    clock,
    logger,
    timeout: Infinity,
    ...options,
  });
  const own = { timeout: Infinity, waitUntil() {} };
  const other = createRateLimiter({ store: memory, limits, clock, ...own });
  /** As another process sees it. */
  const written = async (key?: string) =>
    (await other.usage("send", { ...(key && { key }), ...hour })).total.granted;
  const call = (key: string) => limiter.limit("send", { key });
  return { limiter, call, written, writes, fails, logger, clock };
}

describe("usage is written", () => {
  it("after flushUsage ms, by one timer for all calls, which no other call starts", async () => {
    const { call, written, writes, limiter } = setUp({ flushUsage: 3000 });
    await limiter.limit("plain");
    expect(vi.getTimerCount()).toBe(0);
    for (let i = 0; i < 5; i++) await call("ann");
    await vi.advanceTimersByTimeAsync(1000);
    for (let i = 0; i < 5; i++) await call("bob");
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1900);
    expect(writes).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(await written("ann")).toBe(5);
    expect(await written("bob")).toBe(5);
    expect(await written()).toBe(10);
    // One row for each of the keys, and one for all keys.
    expect(writes).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
    await call("ann");
    await vi.advanceTimersByTimeAsync(3100);
    expect(await written("ann")).toBe(6);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("every 5 seconds by default", async () => {
    const { call, writes } = setUp();
    await call("ann");
    await vi.advanceTimersByTimeAsync(4900);
    expect(writes).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(writes.length).toBe(2);
  });

  it("at once by flushUsage(), and each count once by several at the same time", async () => {
    const { call, written, limiter } = setUp();
    await call("ann");
    const flushes = [limiter.flushUsage(), limiter.flushUsage()];
    await call("ann");
    await Promise.all([...flushes, limiter.flushUsage()]);
    expect(await written("ann")).toBe(2);
    await limiter.flushUsage();
    expect(await written("ann")).toBe(2);
  });

  it("early when many keys have been counted", async () => {
    const { call, written } = setUp();
    for (let i = 0; i < 20_000; i++) await call(`k${i}`);
    await vi.waitFor(async () => expect(await written("k0")).toBe(1));
    expect(await written()).toBeGreaterThanOrEqual(19_999);
  });

  it("before a process ends by itself, which then listens no more", async () => {
    const { call, written } = setUp();
    const counted = process.listenerCount("beforeExit");
    await call("ann");
    const listening = process.listenerCount("beforeExit");
    expect(listening).toBeLessThanOrEqual(counted + 1);
    process.emit("beforeExit", 0);
    await vi.waitFor(async () => expect(await written("ann")).toBe(1));
    for (let i = 0; i < 20; i++) await setUp().call("ann");
    expect(process.listenerCount("beforeExit")).toBe(listening);
  });

  it("by a host that waits for it, where there is one", async () => {
    const promises: Promise<unknown>[] = [];
    const { call, written } = setUp({ waitUntil: (promise) => void promises.push(promise) });
    for (let i = 0; i < 5; i++) await call("ann");
    expect(promises).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5100);
    await promises[0];
    expect(await written("ann")).toBe(5);
    await call("ann");
    expect(promises).toHaveLength(2);
  });

  it("by each request where requests own their I/O, and needs waitUntil there", async () => {
    vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
    const promises: Promise<unknown>[] = [];
    const { call, written } = setUp({ waitUntil: (promise) => void promises.push(promise) });
    await call("ann");
    expect(promises).toHaveLength(1);
    await promises[0];
    expect(await written("ann")).toBe(1);
    expect(() => setUp()).toThrow(/usage needs waitUntil on Cloudflare Workers/);
    expect(() =>
      createRateLimiter({ store: memoryStore(), limits: { plain: limits.plain } }),
    ).not.toThrow();
  });
});

describe("while the store is down", () => {
  it("usage is kept, and written when the store is back", async () => {
    const { call, written, fails, limiter, logger } = setUp();
    fails.how = "at once";
    await call("ann");
    await vi.advanceTimersByTimeAsync(5100);
    await call("ann");
    await expect(limiter.flushUsage()).rejects.toThrow("down");
    await expect(limiter.usage("send", { key: "ann", ...hour })).rejects.toThrow("down");
    await vi.advanceTimersByTimeAsync(20_000);
    await call("bob");
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining("down"), expect.anything());
    fails.how = "never";
    await vi.advanceTimersByTimeAsync(5100);
    expect(await written("ann")).toBe(2);
    expect(await written("bob")).toBe(1);
    expect(await written()).toBe(3);
  });

  it("what was written without an answer is written again, and never lost", async () => {
    const { call, written, fails, limiter } = setUp();
    await call("ann");
    fails.how = "after the write";
    await expect(limiter.flushUsage()).rejects.toThrow("lost");
    fails.how = "never";
    await call("ann");
    await limiter.flushUsage();
    expect(await written("ann")).toBe(3);
  });

  it("a call that is forgotten is not written later", async () => {
    const { call, written, fails, limiter } = setUp();
    fails.how = "at once";
    await call("ann");
    await expect(limiter.flushUsage()).rejects.toThrow("down");
    fails.how = "never";
    await limiter.forget("ann");
    await limiter.flushUsage();
    expect(await written("ann")).toBe(0);
    expect(await written()).toBe(1);
  });

  it("a process that ends tries once, and ends", async () => {
    const { call, writes, fails } = setUp();
    fails.how = "at once";
    await call("ann");
    process.emit("beforeExit", 0);
    await vi.waitFor(() => expect(writes.length).toBeGreaterThan(0));
    const tried = writes.length;
    process.emit("beforeExit", 0);
    await Promise.resolve();
    expect(writes).toHaveLength(tried);
  });

  it("keys beyond the bound are lost, which is logged once, and the sum of all keys is complete", async () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    const sums = new UsageSums(4);
    const terms = { every: HOUR, keep: DAY, changes: false };
    let isDown = true;
    const asked: string[] = [];
    const flush = new UsageFlush({
      sums,
      every: 5000,
      waitUntil: undefined,
      clock: () => START,
      logger,
      ask({ toDecision, done, failed }) {
        if (isDown) return failed(new Error("down"));
        const decision = toDecision();
        const [row] = decision.rows;
        const { writes } = decision.decide([null]);
        asked.push(`${row!.key.split("|")[0]} ${writes![0]!.used}`);
        done(undefined);
      },
    });
    const count = (key: string) =>
      flush.counted(sums.add("send", terms, START, key, { granted: 1, taken: 1 }));
    for (const key of ["a", "b", "c", "d", "e", "a"]) count(key);
    await expect(flush.flush()).rejects.toThrow("down");
    for (const key of ["f", "g", "a"]) count(key);
    await expect(flush.flush()).rejects.toThrow("down");
    expect(logger.error).toHaveBeenCalledTimes(1);
    expect(logger.error).toHaveBeenCalledWith(
      expect.stringContaining("the usage of some keys is lost"),
    );
    isDown = false;
    await flush.flush();
    expect(asked.toSorted()).toEqual([" 9", "a 3", "b 1", "c 1"]);
    for (const key of ["a", "b", "c", "d"]) count(key);
    expect(logger.error).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(5100);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("on PostgreSQL", () => {
  it("statements add to many rows each by themselves, without a read", async () => {
    vi.useRealTimers();
    await using database = await createPostgres();
    const { store, close } = openStore("pg", database.url);
    const events: BatchEvent[] = [];
    const limiter = createRateLimiter({
      store,
      limits,
      clock: () => START,
      onBatch: (event) => void events.push(event),
      flushUsage: 1e9,
    });
    const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`);
    await Promise.all(keys.map((key) => limiter.limit("send", { key })));
    for (const turn of [1, 2]) {
      events.length = 0;
      await limiter.flushUsage();
      expect(new Set(events.map(({ way }) => way))).toEqual(new Set(["take"]));
      expect(events.reduce((sum, { rows }) => sum + rows, 0)).toBe(1001);
      expect(events.length).toBeLessThan(10);
      const { total } = await limiter.usage("send", hour);
      expect(total.granted).toBe(1000 * turn);
      await Promise.all(keys.map((key) => limiter.limit("send", { key })));
    }
    await close();
  });
});

describe("beforeExit", () => {
  it("runs work once, and not what was ended", () => {
    const works = [vi.fn(), vi.fn()];
    const ends = works.map((work) => beforeExit(work));
    ends[1]!();
    process.emit("beforeExit", 0);
    process.emit("beforeExit", 0);
    expect(works.map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  });
});
