import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, HOUR, memoryStore, MINUTE } from "../../../server/index.js";
import { describeStore } from "./contract.js";

describeStore("memoryStore", async () => ({ store: memoryStore(), close: async () => {} }));

describe("memoryStore", () => {
  it("drops the rows that were written longest ago when it exceeds maxRows", async () => {
    const limiter = createRateLimiter({
      store: memoryStore({ maxRows: 2 }),
      clock: createManualClock(),
      limits: { once: { kind: "token bucket", rate: 1, period: MINUTE } },
    });
    for (const key of ["a", "b", "c"]) await limiter.limit("once", { key });
    expect(await limiter.check("once", { key: "a" })).toMatchObject({ ok: true });
    expect(await limiter.check("once", { key: "b" })).toMatchObject({ ok: false });
    expect(await limiter.check("once", { key: "c" })).toMatchObject({ ok: false });
  });

  const token = { kind: "token bucket", rate: 1, period: MINUTE } as const;

  it("holds one row where maxRows is 1", async () => {
    const store = memoryStore({ maxRows: 1 });
    const limiter = createRateLimiter({ store, clock: createManualClock(), limits: { token } });
    for (const key of ["a", "b"]) {
      expect(await limiter.limit("token", { key })).toMatchObject({ ok: true });
      expect(await limiter.limit("token", { key })).toMatchObject({ ok: false });
      expect(await store.list!("token", undefined, 9)).toMatchObject([{ key }]);
    }
    expect(await limiter.limit("token", { key: "a" })).toMatchObject({ ok: true });
  });

  it("drops rows that are full again first, however long ago the others were written", async () => {
    const clock = createManualClock();
    const limits = {
      logIns: { ...token, rate: 5, period: HOUR },
      flood: { ...token, period: 1000 },
    };
    const limiter = createRateLimiter({ store: memoryStore({ maxRows: 50 }), clock, limits });
    await limiter.limit("logIns", { key: "victim", count: 5 });
    for (let i = 0; i < 500; i++) {
      clock.advance(100);
      await limiter.limit("flood", { key: `${i}` });
    }
    expect(await limiter.check("logIns", { key: "victim" })).toMatchObject({ ok: false });
  });

  it("takes no row for full because a count of closings is of an instant to come", async () => {
    const limits = {
      daily: { kind: "fixed window", rate: 10, period: 24 * HOUR, start: 0 },
      closing: { ...token, blockFor: [24 * HOUR] },
    } as const;
    const store = memoryStore({ maxRows: 6 });
    const limiter = createRateLimiter({ store, clock: createManualClock(), limits });
    await limiter.limit("daily", { key: "victim", count: 10 });
    for (let i = 0; i < 2; i++) await limiter.limit("closing", { key: "attacker" });
    for (let i = 0; i < 6; i++) await limiter.limit("daily", { key: `${i}` });
    expect(await limiter.check("daily", { key: "victim" })).toMatchObject({ ok: false });
  });

  it("drops the least used row when none is full", async () => {
    const clock = createManualClock();
    const limits = {
      logIns: { kind: "fixed window", rate: 5, period: HOUR },
      other: { kind: "fixed window", rate: 5, period: HOUR },
    } as const;
    const limiter = createRateLimiter({ store: memoryStore({ maxRows: 50 }), clock, limits });
    for (const key of ["a", "b", "c"]) await limiter.limit("logIns", { key, count: 5 });
    for (let i = 0; i < 1000; i++) {
      clock.advance(1);
      await limiter.limit(i % 2 ? "logIns" : "other", { key: `${i}`, count: 1 + (i % 4) });
    }
    for (const key of ["a", "b", "c"]) {
      expect(await limiter.check("logIns", { key })).toMatchObject({ ok: false });
    }
  });

  it("holds no more than maxRows, whatever is written, deleted and pruned", async () => {
    const clock = createManualClock();
    const store = memoryStore({ maxRows: 20 });
    const limiter = createRateLimiter({ store, clock, limits: { once: token } });
    for (let i = 0; i < 3000; i++) {
      const key = `${(i * 7) % 31}`;
      clock.advance((i % 5) * 3000);
      if (i % 11 === 0) await limiter.reset("once", { key });
      else await limiter.limit("once", { key });
      if (i % 97 === 0) await limiter.prune();
      expect((await store.list!("once", undefined, 99)).length).toBeLessThanOrEqual(20);
    }
    clock.advance(HOUR);
    await limiter.prune();
    expect(await store.list!("once", undefined, 99)).toEqual([]);
  });

  it("lets other work run while it prunes", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ store: memoryStore(), clock, limits: { once: token } });
    for (let i = 0; i < 5000; i++) await limiter.limit("once", { key: `${i}` });
    clock.advance(HOUR);
    let turns = 0;
    let isDone = false;
    const pruning = limiter.prune().finally(() => (isDone = true));
    const count = () => {
      if (isDone) return;
      turns++;
      setImmediate(count);
    };
    count();
    expect(await pruning).toBe(5000);
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it("holds 250,000 rows by default, which fit into a heap of 256 MB with room to spare", async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--max-old-space-size=256", "--import", "tsx", "test/support/memory-rows.ts"],
      { cwd: fileURLToPath(new URL("../../..", import.meta.url)) },
    );
    const { rows, bytesPerRow } = JSON.parse(stdout) as { rows: number; bytesPerRow: number };
    expect(rows).toBe(250_000);
    // The documentation states these bounds.
    expect(bytesPerRow).toBeGreaterThan(300);
    expect(bytesPerRow).toBeLessThan(650);
  }, 60_000);

  it("discards the writes of a transaction that is rolled back", async () => {
    const store = memoryStore();
    const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;
    const limiter = createRateLimiter({ store, limits });
    const failing = limiter.transaction(async ({ limit }) => {
      await limit("once", { key: "a" });
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await limiter.transaction(({ limit }) => limit("once", { key: "b" }));
    expect(await store.list!("once", undefined, 10)).toMatchObject([{ key: "b" }]);
  });

  it("throws for a maxRows that is not a whole number above 0", () => {
    for (const maxRows of [0, -1, 1.5, NaN]) {
      expect(() => memoryStore({ maxRows })).toThrow(`maxRows must be a whole number above 0`);
    }
  });
});
