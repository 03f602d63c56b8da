/** Provokes conflicts through each driver, to check the real shapes of their errors. */
import { createClient } from "@libsql/client";
import { sql } from "drizzle-orm";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import mariadb from "mariadb";
import mysql from "mysql2/promise";
import postgres from "postgres";
import { describe, expect, it, onTestFinished } from "vitest";
import { DIALECTS } from "../../../../server/store/sql/dialects.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { connectPool } from "../../../support/open-store.js";

const INSERT = `INSERT INTO "RateLimit" VALUES ('n', 'a', 0, 0, 0), ('n', 'b', 0, 0, 0)`;
/** By the primary key, because MySQL locks all rows that it looks at. */
const ROW = (key: string) => `WHERE "name" = 'n' AND "key" = '${key}' AND "shard" = 0`;
const LOCK = `SELECT * FROM "RateLimit" ${ROW("a")} FOR UPDATE NOWAIT`;
const SUM = `SELECT sum("used") FROM "RateLimit"`;
const write = (key: string) => `UPDATE "RateLimit" SET "used" = "used" + 1 ${ROW(key)}`;

interface Runner {
  query(text: string): Promise<unknown>;
}

/** The error of a promise that has to reject. */
async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("no conflict"),
    (error: unknown) => error,
  );
}

describe("on PostgreSQL, a conflict is recognised", () => {
  async function setUp() {
    const database = await createPostgres();
    const pool = connectPool(database.url);
    const client = postgres(database.url, { max: 2 });
    const [one, two] = [await pool.connect(), await pool.connect()];
    onTestFinished(async () => {
      for (const each of [one, two]) each.release(true);
      await Promise.all([pool.end(), client.end()]);
      await database[Symbol.asyncDispose]();
    });
    await pool.query(INSERT);
    return { pool, client, one, two, prisma: database.prisma };
  }

  it("if another transaction has locked a row, through pg, postgres.js, Drizzle and Prisma", async () => {
    const { pool, client, one, prisma } = await setUp();
    await one.query("BEGIN");
    await one.query(write("a"));
    const errors = await Promise.all([
      errorOf(pool.query(LOCK)),
      errorOf(client.unsafe(LOCK)),
      errorOf(drizzlePg(pool).execute(sql.raw(LOCK))),
      errorOf(prisma.$queryRawUnsafe(LOCK)),
    ]);
    expect(errors.map(DIALECTS.postgresql.errors.isConflict)).toEqual([true, true, true, true]);
  });

  it("if COMMIT finds that two transactions cannot be put into an order", async () => {
    const { one, two } = await setUp();
    for (const each of [one, two]) {
      await each.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
      await each.query(SUM);
    }
    await one.query(write("a"));
    await two.query(write("b"));
    await one.query("COMMIT");
    expect(DIALECTS.postgresql.errors.isConflict(await errorOf(two.query("COMMIT")))).toBe(true);
  });

  it("if the row of a Serializable transaction has changed, through postgres.js, Drizzle and Prisma", async () => {
    const { pool, client, prisma } = await setUp();
    const change = () => pool.query(write("a"));
    const serializable = { isolationLevel: "serializable" } as const;
    const errors = [
      await errorOf(
        client.begin("ISOLATION LEVEL SERIALIZABLE", async (tx) => {
          await tx.unsafe(SUM);
          await change();
          await tx.unsafe(write("a"));
        }),
      ),
      await errorOf(
        drizzlePg(pool).transaction(async (tx) => {
          await tx.execute(sql.raw(SUM));
          await change();
          await tx.execute(sql.raw(write("a")));
        }, serializable),
      ),
      await errorOf(
        prisma.$transaction(
          async (tx) => {
            await tx.$queryRawUnsafe(SUM);
            await change();
            await tx.$executeRawUnsafe(write("a"));
          },
          { isolationLevel: "Serializable" },
        ),
      ),
    ];
    expect(errors.map(DIALECTS.postgresql.errors.isConflict)).toEqual([true, true, true]);
  });

  it("if a deadlock was broken, and not if a statement took too long", async () => {
    const { one, two } = await setUp();
    for (const each of [one, two]) await each.query("BEGIN");
    await one.query(write("a"));
    await two.query(write("b"));
    const both = await Promise.allSettled([one.query(write("b")), two.query(write("a"))]);
    const reasons = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(reasons.map(DIALECTS.postgresql.errors.isConflict)).toEqual([true]);
    for (const each of [one, two]) await each.query("ROLLBACK");
    await one.query("SET statement_timeout = 20");
    expect(
      DIALECTS.postgresql.errors.isConflict(await errorOf(one.query("SELECT pg_sleep(5)"))),
    ).toBe(false);
  });
});

describe("on MySQL or MariaDB, a conflict is recognised", () => {
  if (mysqlUrl === undefined) {
    it("through each driver", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
    return;
  }

  const inMysql = (text: string) => text.replaceAll('"', "`");

  async function setUp() {
    const database = await createMysql();
    const pool = mysql.createPool({ uri: database.url });
    const { hostname: host, port, username: user, password, pathname } = new URL(database.url);
    const other = mariadb.createPool({
      host,
      port: Number(port || 3306),
      user,
      password: decodeURIComponent(password),
      database: pathname.slice(1),
      connectionLimit: 2,
    });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(async () => void (await Promise.all([pool.end(), other.end()])));
    await pool.query(inMysql(INSERT));
    return { pool, other, prisma: database.prisma };
  }

  it("if another transaction has locked a row, through mysql2, mariadb and Prisma", async () => {
    const { pool, other, prisma } = await setUp();
    const one = await pool.getConnection();
    await one.query("BEGIN");
    await one.query(inMysql(write("a")));
    const errors = await Promise.all([
      errorOf(pool.query(inMysql(LOCK))),
      errorOf(other.query(inMysql(LOCK))),
      errorOf(prisma.$queryRawUnsafe(inMysql(LOCK))),
    ]);
    await one.query("ROLLBACK");
    one.release();
    expect(errors.map(DIALECTS.mysql.errors.isConflict)).toEqual([true, true, true]);
  });

  it("if a deadlock was broken, through mysql2 and mariadb", async () => {
    const { pool, other } = await setUp();
    const [pooled, borrowed] = [await pool.getConnection(), await other.getConnection()];
    const one: Runner = pooled;
    const two: Runner = borrowed;
    for (const first of [one, two]) {
      const second = first === one ? two : one;
      for (const each of [one, two]) await each.query("BEGIN");
      await first.query(inMysql(write("a")));
      await second.query(inMysql(write("b")));
      const both = await Promise.allSettled([
        first.query(inMysql(write("b"))),
        second.query(inMysql(write("a"))),
      ]);
      const reasons = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      expect(reasons.map(DIALECTS.mysql.errors.isConflict)).toEqual([true]);
      for (const each of [one, two]) await each.query("ROLLBACK");
    }
    pooled.release();
    await borrowed.release();
  });
});

describe("on SQLite, a conflict is recognised", () => {
  async function setUp() {
    const database = await createSqlite();
    const [one, two] = [createClient({ url: database.url }), createClient({ url: database.url })];
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => [one, two].forEach((each) => each.close()));
    return { one, two, prisma: database.prisma };
  }

  it("if another connection writes, through libsql, Drizzle and Prisma", async () => {
    const { one, two, prisma } = await setUp();
    await prisma.$queryRawUnsafe("PRAGMA busy_timeout = 20");
    const transaction = await one.transaction("write");
    const errors = [
      await errorOf(two.execute(INSERT)),
      await errorOf(drizzleLibsql(two).run(sql.raw(INSERT))),
      await errorOf(prisma.$executeRawUnsafe(INSERT)),
    ];
    await transaction.rollback();
    expect(errors.map(DIALECTS.sqlite.errors.isConflict)).toEqual([true, true, true]);
    // Elsewhere, the same codes mean a connection that has gone silent.
    expect(errors.map(DIALECTS.postgresql.errors.isConflict)).toEqual([false, false, false]);
  });

  it("if the snapshot of a transaction is no longer the newest", async () => {
    const { one, two } = await setUp();
    const transaction = await two.transaction("deferred");
    await transaction.execute(SUM);
    await one.execute(INSERT);
    const error = await errorOf(transaction.execute(write("a")));
    await transaction.rollback();
    expect(error).toMatchObject({ extendedCode: "SQLITE_BUSY_SNAPSHOT" });
    expect(DIALECTS.sqlite.errors.isConflict(error)).toBe(true);
  });
});
