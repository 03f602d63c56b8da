/** A limit with a lease: a process takes tokens in blocks, and serves calls from its memory. */
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../../../server/index.js";
import { CAPACITY, hot, MS, processes, REFILL } from "../../../support/leased.js";
import { stores } from "../../../support/stores.js";

describe.each(stores)("a leased limit on %s", (_, open) => {
  async function setUp() {
    const opened = await open({ isNew: true });
    return Object.assign(processes(opened.store, opened.peer), {
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    });
  }

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
    return () => at[Symbol.asyncDispose]();
  });

  it("serves calls from a block, and leaves the row alone", async () => {
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
    const block = await at.warm();
    const [row, result] = [await at.row(), await at.own.limit("hot", { count: 4 })];
    await at.own.settle(result, 1);
    expect([await at.row(), await at.block()]).toEqual([row, block - 1]);
    expect(await at.own.refund("hot", { result, count: 10 })).toEqual({ value: row + block });
    await at.own.refund("hot", { result, count: 10 });
    expect([await at.row(), await at.block()]).toEqual([row, block]);
  });

  it("gives nothing back of a few tokens once their block is over", async () => {
    await at.warm();
    const result = await at.own.limit("hot", { count: 4 });
    at.clock.advance(MS);
    const row = await at.row();
    await at.own.settle(result, 0);
    expect(await at.row()).toBe(row);
  });

  it("takes from the row what was used beyond the estimate, and what is charged", async () => {
    const block = await at.warm();
    const [row, result] = [await at.row(), await at.own.limit("hot")];
    await at.own.settle(result, 11);
    await at.own.charge("hot", { count: 5 });
    expect([await at.row(), await at.block()]).toEqual([row - 15, block - 1]);
  });

  it("reserves from the row, and takes from it together with other limits", async () => {
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
    await at.warm();
    const [snapshot] = await at.own.snapshots([{ name: "hot" }]);
    expect(snapshot!.value).toBe((await at.row()) + (await at.block()));
    expect(snapshot!.config).not.toHaveProperty("lease");
    const { items } = await at.own.list("hot");
    expect(items[0]!.value).toBe(snapshot!.value);
  });

  it("has a block of a window until the window ends, and not after it", async () => {
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
    const config = { ...hot, rate: 12_000 };
    const block = await at.warm();
    for (let i = 0; i < 20; i++) await at.own.limit("hot", { config: { ...config } });
    expect(await at.block()).toBe(block);
    const own = await at.own.getValue("hot", { config });
    const row = await at.other.getValue("hot", { config });
    expect(own.value).toBeGreaterThan(row.value);
  });

  it("grants all tokens and none more to calls at the same time", async () => {
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
