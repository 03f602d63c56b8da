/** `enabled: false`: every call of every verb passes, and the store is neither asked nor written. */
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  DAY,
  type DecisionEvent,
  MINUTE,
  pgStore,
} from "../../../../server/index.js";

const few = { kind: "token bucket", rate: 2, period: MINUTE } as const;
const limits = {
  few,
  closing: { ...few, blockFor: [MINUTE, DAY], usage: true, rememberDenials: MINUTE },
  held: { ...few, holds: true },
  leased: { ...few, rate: 100, lease: { ms: 1000 } },
  sharded: { ...few, shards: 4 },
  window: { kind: "fixed window", rate: 2, period: "day", timeZone: "Asia/Kolkata" },
  credits: { kind: "credits", capacity: 50 },
  slots: { kind: "concurrency", slots: 1 },
  planned: { kind: "token bucket", period: MINUTE, plans: { free: { rate: 1 }, none: "none" } },
} as const;

/** A database that only counts who comes. */
async function countedServer(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

async function setUp() {
  const { port, connections } = await countedServer();
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "nobody", database: "none" });
  onTestFinished(() => pool.end());
  const events: DecisionEvent[] = [];
  const limiter = createRateLimiter({
    store: pgStore(pool),
    limits,
    plans: ["free", "none"],
    plan: (): "free" => {
      throw new Error("the plan was asked");
    },
    enabled: false,
    overrides: true,
    autoPrune: true,
    flushUsage: 1,
    logger: false,
    onDecision: (event) => void events.push(event),
  });
  return { limiter, connections, events };
}

const off = { ok: true, disabled: true };

describe("a limiter that is switched off", () => {
  it("passes calls of every kind of limit, however many come, and asks no database", async () => {
    const { limiter, connections, events } = await setUp();
    const names = ["few", "closing", "held", "leased", "sharded", "window", "credits"] as const;
    for (const name of names) {
      for (let i = 0; i < 3; i++) {
        expect(await limiter.limit(name, { key: "ada", count: 2 })).toMatchObject(off);
        expect(await limiter.check(name, { key: "ada", throws: true })).toMatchObject(off);
      }
    }
    expect(await limiter.limit("planned", { key: "ada" })).toMatchObject(off);
    expect(await limiter.limit("planned", { key: "ada", plan: "none" } as never)).toMatchObject(
      off,
    );
    expect(events.every(({ result }) => result.ok && result.disabled)).toBe(true);
    expect(events).toHaveLength(names.length * 6 + 2);
    expect(connections()).toBe(0);
  });

  it("grants a count above the capacity, at once also to a call that would wait", async () => {
    const { limiter, connections } = await setUp();
    expect(await limiter.limit("few", { count: 1_000 })).toEqual({
      ...off,
      value: 2,
      ts: expect.any(Number) as number,
    });
    for (let i = 0; i < 5; i++)
      expect(await limiter.acquire("few", { count: 2 })).toMatchObject(off);
    expect(await limiter.limit("few", { count: 2, reserve: true })).not.toHaveProperty(
      "retryAfter",
    );
    expect(connections()).toBe(0);
  });

  it("passes an id again, with or without a hold, and takes nothing under it", async () => {
    const { limiter, connections } = await setUp();
    const hold = { for: MINUTE, then: "release" } as const;
    for (let i = 0; i < 3; i++) {
      const once = { key: "ada", count: 2, once: "job 1" };
      expect(await limiter.limit("few", once)).not.toHaveProperty("repeated");
      expect(await limiter.limit("held", { ...once, hold })).toMatchObject(off);
    }
    const id = { key: "ada", once: "job 1" };
    const unknown = { reason: "unknown", disabled: true };
    expect(await limiter.settle("held", id, 1)).toEqual({ settled: false, ...unknown });
    expect(await limiter.release("held", id)).toEqual({ released: false, ...unknown });
    expect(connections()).toBe(0);
  });

  it("says of lists that they pass, as a whole and for each limit", async () => {
    const { limiter, connections } = await setUp();
    const all = await limiter.limitAll([
      { name: "few", key: "ada", count: 5 },
      { name: "closing", key: "ada" },
      { name: "planned", key: "ada" },
    ]);
    expect(all).toMatchObject({ ...off, results: [off, off, off] });
    const first = await limiter.limitFirst(["few", "credits"], { key: "ada", count: 30 });
    expect(first).toMatchObject({ ...off, results: [off] });
    // Nothing was paid, as in an outage.
    expect(first).toMatchObject({ paid: [] });
    const split = ["few", "credits"] as const;
    expect(await limiter.limitFirst(split, { key: "ada", count: 30, split: true })).toMatchObject(
      off,
    );
    expect(connections()).toBe(0);
  });

  it("charges, credits, settles, gives back and fills nothing", async () => {
    const { limiter, connections, events } = await setUp();
    const result = await limiter.limit("few", { key: "ada" });
    expect(await limiter.charge("closing", { key: "ada", count: 9 })).toEqual({
      value: 2,
      disabled: true,
    });
    expect(await limiter.credit("credits", { key: "ada", count: 9 })).toMatchObject({
      credited: 0,
      disabled: true,
    });
    for (const actual of [0, 1, 7]) {
      expect(await limiter.settle(result, actual)).toEqual({ settled: false, disabled: true });
    }
    expect(await limiter.refund("few", { key: "ada", result })).toMatchObject({ disabled: true });
    expect(await limiter.refund("few", { key: "ada" })).toMatchObject({ disabled: true });
    const figures = { key: "ada", remaining: 0, retryAfter: 1000 };
    expect(await limiter.observe("few", figures)).toMatchObject({ lowered: false, disabled: true });
    await limiter.reset("few", { key: "ada" });
    expect(events.every((event) => event.result.ok && event.result.disabled)).toBe(true);
    expect(connections()).toBe(0);
  });

  it("gives every caller a slot, which is never lost", async () => {
    const { limiter, connections, events } = await setUp();
    const slots = [];
    for (let i = 0; i < 3; i++) {
      const slot = await limiter.enter("slots", { key: "ada", with: [{ name: "few", count: 2 }] });
      expect(slot).toMatchObject({ ...off, value: 1, results: [off] });
      slots.push(slot);
    }
    expect(await limiter.check("slots", { key: "ada" })).toMatchObject(off);
    expect(events.map(({ name }) => name)).toEqual([
      "few",
      "slots",
      "few",
      "slots",
      "few",
      "slots",
    ]);
    for (const slot of slots) {
      if (!slot.ok) throw new Error("denied");
      expect([slot.signal.aborted, slot.isTakenOver]).toEqual([false, false]);
      await slot.release();
      await slot[Symbol.asyncDispose]();
    }
    expect(connections()).toBe(0);
  });

  it("shows full buckets", async () => {
    const { limiter, connections } = await setUp();
    await limiter.charge("few", { count: 100 });
    expect(await limiter.getValue("few")).toMatchObject({ value: 2 });
    expect(await limiter.getValue("credits", { key: "ada" })).toMatchObject({ value: 50 });
    expect(await limiter.getValue("slots", { key: "ada" })).toMatchObject({ value: 1 });
    const shown = await limiter.snapshots([
      { name: "few" },
      { name: "held", key: "ada" },
      { name: "sharded" },
      { name: "slots" },
    ]);
    expect(shown.map(({ value }) => value)).toEqual([2, 2, 2, 1]);
    expect(connections()).toBe(0);
  });
});
