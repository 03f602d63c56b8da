/** The reports of a limiter about the batches of its store. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type BatchEvent,
  createRateLimiter,
  DAY,
  memoryStore,
  prismaStore,
  type RateLimitStore,
} from "../../../../server/index.js";
import type { SqliteClient } from "../../../support/clients.js";
import {
  createPostgres,
  createSqlite,
  intercept,
  type TestDatabase,
} from "../../../support/database.js";
import { soon } from "../../../support/soon.js";

const limits = {
  many: { kind: "token bucket", rate: 1000, period: DAY },
  more: { kind: "token bucket", rate: 1000, period: DAY },
  one: { kind: "token bucket", rate: 1, period: DAY },
} as const;

const both = [{ name: "many" }, { name: "more" }] as const;

/** A limiter, and the events of its batches. */
function observe<TTransaction>(store: RateLimitStore<TTransaction>) {
  const events: BatchEvent[] = [];
  const limiter = createRateLimiter({ store, limits, onBatch: (event) => void events.push(event) });
  return { limiter, events };
}

const sum = (events: readonly BatchEvent[], field: "calls" | "conflicts") =>
  events.reduce((total, event) => total + event[field], 0);

describe.each([
  ["SQLite", createSqlite],
  ["PostgreSQL", () => createPostgres()],
])("on %s, onBatch", (_, create) => {
  async function open(): Promise<TestDatabase<SqliteClient>> {
    const database = (await create()) as unknown as TestDatabase<SqliteClient>;
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  }

  it("counts each call once if none of them is decided again", async () => {
    const { prisma } = await open();
    const { limiter, events } = observe(prismaStore(prisma));
    const keys = Array.from({ length: 10 }, (_each, index) => `user ${index}`);
    for (let round = 0; round < 5; round++) {
      await Promise.all(keys.flatMap((key) => [1, 2, 3].map(() => limiter.limit("many", { key }))));
    }
    expect(sum(events, "calls")).toBe(150);
    // The calls of one tick share their batches.
    expect(events.length).toBeLessThan(75);
    for (const { way, calls, rows, duration, ...rest } of events) {
      expect(way).toBe("take");
      expect(rows).toBeLessThanOrEqual(Math.min(calls, keys.length));
      expect(duration).toBeGreaterThan(0);
      expect(rest).toEqual({ conflicts: 0, failed: false });
    }
  });

  it("tells how each batch was carried out", async () => {
    const { prisma } = await open();
    const { limiter, events } = observe(prismaStore(prisma));
    const waysOf = async (call: Promise<unknown>) => {
      await call;
      return events.splice(0).map(({ way, calls, rows }) => [way, calls, rows]);
    };
    expect(await waysOf(limiter.limit("one"))).toEqual([["take", 1, 1]]);
    expect(await waysOf(limiter.check("many"))).toEqual([["read", 1, 1]]);
    expect(await waysOf(limiter.limitAll(both))).toEqual([["decide", 1, 2]]);
    // The store knows that there are no tokens, and reads the row instead.
    expect(await waysOf(limiter.limit("one"))).toEqual([["decide", 1, 1]]);
  });

  it("counts a conflict, and the calls of the batch that decides again", async () => {
    const { prisma, connect } = await open();
    const peer = createRateLimiter({ store: prismaStore(connect()), limits });
    await peer.limitAll(both);
    let disturb: (() => Promise<unknown>) | undefined;
    const client = intercept(prisma, async (text) => {
      if (!/UPDATE/.test(text)) return;
      const run = disturb;
      disturb = undefined;
      await run?.();
    });
    const { limiter, events } = observe(prismaStore(client));
    await limiter.limitAll(both);
    expect(events.splice(0)).toMatchObject([{ way: "decide", calls: 1, conflicts: 0 }]);
    // After the read, and before the write.
    disturb = () => peer.limit("more");
    await expect(limiter.limitAll(both)).resolves.toMatchObject({ ok: true });
    expect(disturb).toBeUndefined();
    expect(events.map(({ conflicts }) => conflicts)).toEqual([1, 0]);
    expect(events.map(({ calls, rows, failed }) => [calls, rows, failed])).toEqual([
      [1, 2, false],
      [1, 2, false],
    ]);
    expect(Math.floor((await limiter.getValue("more")).value)).toBe(1000 - 4);
  });

  it("counts calls and conflicts that add up while two processes use the same rows", async () => {
    const { prisma, connect } = await open();
    const sides = [observe(prismaStore(prisma)), observe(prismaStore(connect()))];
    await sides[0]!.limiter.limitAll(both);
    let calls = 1;
    while (calls < 200 || sides.every(({ events }) => sum(events, "conflicts") === 0)) {
      const round = sides.flatMap(({ limiter }) => [
        limiter.limitAll(both),
        limiter.limitAll(both),
      ]);
      await Promise.all(round);
      calls += round.length;
      expect(calls).toBeLessThan(900);
    }
    const events = sides.flatMap((side) => side.events);
    expect(sum(events, "calls") - sum(events, "conflicts")).toBe(calls);
  });

  it("reports batches that fail, and the calls that fail because there is no table", async () => {
    const { prisma } = await open();
    const { limiter, events } = observe(prismaStore(prisma));
    await limiter.limit("many");
    await limiter.limitAll(both);
    expect(events.splice(0).map(({ failed }) => failed)).toEqual([false, false]);
    await prisma.$executeRawUnsafe('DROP TABLE "RateLimit"');
    await expect(limiter.limitAll(both)).rejects.toThrow("RateLimit");
    expect(events.splice(0)).toMatchObject([{ way: "decide", calls: 1, rows: 2, failed: true }]);
    await Promise.allSettled([limiter.limit("many"), limiter.limit("more")]);
    expect(events).toMatchObject([{ way: "read", calls: 2, rows: 0, conflicts: 0, failed: true }]);
    expect(events[0]!.duration).toBeGreaterThan(0);
  });

  it("may throw or reject without effect", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const { prisma } = await open();
    const store = prismaStore(prisma);
    const throwing = vi.fn(() => {
      throw new Error("failed at once");
    });
    const rejecting = vi.fn(async () => {
      await Promise.resolve();
      throw new Error("failed later");
    });
    const [first, second] = [throwing, rejecting].map((onBatch) =>
      createRateLimiter({ store, limits, onBatch }),
    );
    await expect(first!.limit("many")).resolves.toMatchObject({ ok: true });
    await expect(second!.limit("many")).resolves.toMatchObject({ ok: true });
    // The events are those of the store, so both limiters get all of them.
    expect([throwing, rejecting].map(({ mock }) => mock.calls.length)).toEqual([2, 2]);
    // Node reports unhandled rejections once the queue of promises is empty.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).toEqual([]);
  });

  it("reaches stores that wrap another one by a copy, and ends for a listener that leaves", async () => {
    const { prisma } = await open();
    const inner = prismaStore(prisma);
    const { limiter, events } = observe({ ...inner });
    const listener = vi.fn();
    const leave = inner.onBatch!(listener);
    inner.onBatch!(listener);
    await limiter.limit("many");
    leave();
    await limiter.limit("many");
    expect(events).toHaveLength(2);
    expect(listener).toHaveBeenCalledTimes(3);
  });
});

it("on PostgreSQL, onBatch counts the conflicts with a transaction that holds a row by using()", async () => {
  await using database = await createPostgres();
  const { limiter, events } = observe(prismaStore(database.connect()));
  const owner = createRateLimiter({ store: prismaStore(database.prisma), limits });
  await limiter.limitAll(both);
  events.length = 0;
  let waiting: Promise<unknown> = Promise.resolve();
  await database.prisma.$transaction(async (tx) => {
    await owner.using(tx).limit("many");
    waiting = limiter.limitAll(both);
    await soon(() => expect(sum(events, "conflicts")).toBeGreaterThan(0));
  });
  await expect(waiting).resolves.toMatchObject({ ok: true });
  expect(sum(events, "calls") - sum(events, "conflicts")).toBe(1);
  expect(events.map(({ way }) => way)).toContain("lock");
  expect(events.at(-1)).toMatchObject({ conflicts: 0, failed: false });
});

it("onBatch is never called by a store that has no batches", async () => {
  const { limiter, events } = observe(memoryStore());
  await expect(limiter.limit("many")).resolves.toMatchObject({ ok: true });
  expect(events).toEqual([]);
});
