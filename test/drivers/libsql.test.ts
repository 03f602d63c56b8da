import { createClient } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, prismaStore, sqliteStore } from "../../server/index.js";
import { createSqlite } from "../support/database.js";
import { openLibsql } from "../support/open-sqlite.js";
import { describeSqlStore } from "../server/store/sql-contract.js";

describeSqlStore("libsql", "sqliteStore on @libsql/client", createSqlite);

const limits = { few: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 } } as const;

async function setUp(intMode?: "bigint" | "string") {
  const database = await createSqlite();
  const client = openLibsql(database.url, intMode && { intMode });
  await client.execute("CREATE TABLE posts (title TEXT)");
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => client.close());
  const limiter = createRateLimiter({ store: sqliteStore(client), limits });
  const posts = async () => (await client.execute("SELECT title FROM posts")).rows.length;
  return { database, client, limiter, posts };
}

/** Another connection: `lock` makes the database busy, and `committed` sees only what is committed. */
async function setUpBusy() {
  const opened = await setUp();
  const other = openLibsql(opened.database.url);
  onTestFinished(() => other.close());
  return {
    ...opened,
    lock: () => other.transaction("write"),
    async committed() {
      const { rows } = await other.execute('SELECT "used" FROM "RateLimit"');
      return rows[0]!["used"];
    },
  };
}

describe("sqliteStore on @libsql/client", () => {
  it("passes a transaction to the callback of `transaction`, and rolls back when the callback throws", async () => {
    const { limiter, posts } = await setUp();
    const post = (fails: boolean) =>
      limiter.transaction(async ({ tx, limit }) => {
        await limit("few", { throws: true });
        await tx.execute("INSERT INTO posts VALUES ('first')");
        if (fails) throw new Error("post failed");
      });
    await post(false);
    await expect(post(true)).rejects.toThrow("post failed");
    expect(await posts()).toBe(1);
    expect((await limiter.getValue("few")).value).toBe(9);
  });

  it("decides calls from outside of a transaction after it", async () => {
    const { limiter } = await setUp();
    let outside: Promise<{ ok: boolean }> | undefined;
    const failing = limiter.transaction(async ({ limit }) => {
      outside = limiter.limit("few", { key: "outside" });
      await limit("few", { key: "inside" });
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      throw new Error("post failed");
    });
    await expect(failing).rejects.toThrow("post failed");
    expect((await outside!).ok).toBe(true);
    expect((await limiter.getValue("few", { key: "outside" })).value).toBe(9);
    expect((await limiter.getValue("few", { key: "inside" })).value).toBe(10);
  });

  it("ends a transaction that takes too long, and refuses its later statements", async () => {
    const { limiter, posts } = await setUp();
    let later: Promise<unknown> | undefined;
    let write = () => {};
    const slow = limiter.transaction(
      async ({ tx, limit }) => {
        await limit("few", { throws: true });
        await new Promise<void>((resolve) => (write = resolve));
        later = tx.execute("INSERT INTO posts VALUES ('late')");
        await later;
      },
      { timeout: 20, retryFor: 0 },
    );
    await expect(slow).rejects.toThrow("the transaction took longer than 20 ms");
    // Other calls do not wait for it.
    expect((await limiter.limit("few")).ok).toBe(true);
    write();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(later).rejects.toThrow(/closed/);
    expect(await posts()).toBe(0);
    expect((await limiter.getValue("few")).value).toBe(9);
  });

  it("joins a transaction that the caller began", async () => {
    const { client, limiter } = await setUp();
    const tx = await client.transaction("write");
    expect((await limiter.using(tx).limit("few", { count: 4 })).ok).toBe(true);
    await tx.rollback();
    expect((await limiter.getValue("few")).value).toBe(10);
    expect(() => limiter.using(client as never)).toThrow(/client\.transaction\("write"\)/);
  });

  it("gets its turn after a transaction of the application", async () => {
    const { client, limiter } = await setUp();
    await limiter.limit("few");
    const tx = await client.transaction("write");
    await tx.execute("INSERT INTO posts VALUES ('first')");
    const call = limiter.limit("few");
    await new Promise((resolve) => setImmediate(resolve));
    await tx.commit();
    expect((await call).ok).toBe(true);
    expect((await limiter.getValue("few")).value).toBe(8);
  });

  it("loses no call after the database was busy for the store", async () => {
    const { client, limiter, lock, committed } = await setUpBusy();
    await limiter.limit("few");
    const transaction = await lock();
    const call = limiter.limit("few");
    await new Promise((resolve) => setImmediate(resolve));
    await transaction.commit();
    expect((await call).ok).toBe(true);
    expect((await limiter.limit("few")).ok).toBe(true);
    expect(await committed()).toBe(3);
    expect(client.closed).toBe(false);
  });

  it("loses no call after the database was busy for the application", async () => {
    const { client, limiter, lock, committed } = await setUpBusy();
    await limiter.limit("few");
    const transaction = await lock();
    await expect(client.execute("DELETE FROM posts")).rejects.toThrow(/SQLITE_BUSY/);
    await transaction.commit();
    expect((await limiter.limit("few")).ok).toBe(true);
    expect((await limiter.limit("few")).ok).toBe(true);
    expect(await committed()).toBe(3);
  });

  it.each(["bigint", "string"] as const)("works with the intMode %s", async (intMode) => {
    const { limiter } = await setUp(intMode);
    await limiter.limit("few", { key: "k" });
    await limiter.transaction(({ limit }) => limit("few", { key: "k", count: 2 }));
    expect((await limiter.getValue("few", { key: "k" })).value).toBe(7);
    await limiter.reset("few", { key: "k" });
    expect((await limiter.getValue("few", { key: "k" })).value).toBe(10);
    expect(await limiter.prune()).toBe(0);
  });

  it("refuses an embedded replica", async () => {
    const { client } = await setUp();
    // A replica needs a server to open it. This is a plain client with the answer of a replica.
    const replica = Object.assign(Object.create(client) as typeof client, {
      protocol: "file",
      sync: async () => ({ frame_no: 1, frames_synced: 1 }),
      execute: client.execute.bind(client),
      batch: client.batch.bind(client),
    });
    const limiter = createRateLimiter({ store: sqliteStore(replica), limits });
    await expect(limiter.limit("few")).rejects.toThrow(/embedded replicas.*URL of the primary/);
  });
});

describe("sqliteStore", () => {
  it("says what to pass instead of something that it does not support", async () => {
    const { client, database } = await setUp();
    const refused: [db: unknown, message: RegExp][] = [
      ["file:app.db", /not a path: open the database first/],
      [
        undefined,
        /must be a Database of better-sqlite3 or bun:sqlite, a DatabaseSync of node:sqlite/,
      ],
      [drizzle(client), /not a Drizzle instance: pass its \$client/],
      [database.prisma, /use prismaStore/],
      [createClient({ url: "ws://127.0.0.1:1" }), /not with ws: or wss:/],
      [
        { prepare() {}, exec() {}, batch() {}, withSession() {} },
        /use d1Store for a binding to D1/,
      ],
      [{ sql: {}, transactionSync() {} }, /use durableStore for the storage of a Durable Object/],
      [{ prepare() {}, exec() {}, sync() {}, inTransaction: false }, /better-sqlite3/],
      [{ prepare() {}, exec() {} }, /Node\.js 22\.16 or later/],
    ];
    for (const [db, message] of refused) expect(() => sqliteStore(db as never)).toThrow(message);
    expect(() => sqliteStore(client, { open: () => client })).toThrow(/open must be left out/);
    expect(() => sqliteStore(client, { isolation: "snapshot" as never })).toThrow(/isolation/);
  });

  it("shares its table with prismaStore", async () => {
    const { database, limiter } = await setUp();
    const prisma = createRateLimiter({ store: prismaStore(database.prisma), limits });
    await limiter.limit("few");
    await prisma.limit("few");
    expect((await limiter.getValue("few")).value).toBe(8);
  });

  it("uses another table, and names one that is missing", async () => {
    const { client, database } = await setUp();
    await client.execute('ALTER TABLE "RateLimit" RENAME TO "limits"');
    const missing = createRateLimiter({ store: sqliteStore(client), limits });
    await expect(missing.limit("few")).rejects.toThrow(/"RateLimit" does not exist/);
    const limiter = createRateLimiter({ store: sqliteStore(client, { table: "limits" }), limits });
    expect((await limiter.limit("few")).ok).toBe(true);
    expect(await database.prisma.$queryRaw`SELECT "used" FROM "limits"`).toEqual([{ used: 1 }]);
  });
});
