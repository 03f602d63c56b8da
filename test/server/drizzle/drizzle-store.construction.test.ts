import { entityKind } from "drizzle-orm";
import { npmVersion } from "drizzle-orm/version";
import { drizzle as drizzleD1 } from "drizzle-orm/d1";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzleMysqlProxy } from "drizzle-orm/mysql-proxy";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { pgSchema, pgTable, text, withReplicas } from "drizzle-orm/pg-core";
import { drizzle as drizzlePgProxy } from "drizzle-orm/pg-proxy";
import { drizzle as drizzleSqliteProxy } from "drizzle-orm/sqlite-proxy";
import { drizzle as drizzleSqlJs } from "drizzle-orm/sql-js";
import mysql from "mysql2";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { drizzleStore } from "../../../server/drizzle/index.js";
import { createRateLimiter, HOUR, RateLimitConfigError } from "../../../server/index.js";
import { connectPool } from "../../support/connect-pool.js";
import { createPostgres } from "../../support/database.js";
import { drizzleBetterSqlite3 } from "../../support/drizzle-synchronous.js";
import { connectLibsql } from "../../support/open-orm.js";
import { itThrows, type Refusal } from "../../support/refusals.js";

const limits = {
  few: { kind: "token bucket", rate: 10, period: HOUR, maxReserved: 5 },
} as const;

const nothing = { prepare() {} };
const answerNothing = () => Promise.resolve({ rows: [] });

/** An object of a class that Drizzle calls by this name. */
function ofKind(name: string): object {
  const made = function () {};
  return { constructor: Object.assign(made, { [entityKind]: name }) };
}

/** A database of parts that need packages of their own, or that do not exist yet. */
function databaseOf(dialect: string, session: string) {
  const db = { dialect: ofKind(dialect), session: ofKind(session), transaction() {} };
  return db as unknown as ReturnType<typeof drizzlePg>;
}

it("runs on the version of Drizzle that the test project asks for", () => {
  expect(npmVersion).toMatch(process.env["DRIZZLE_VERSION"] === "1" ? /^1\.0\.0-/ : /^0\./);
});

const refused = (db: unknown, ...told: (RegExp | string)[]): Refusal => {
  return [() => drizzleStore(db as ReturnType<typeof drizzlePg>), ...told];
};
const looksLike = drizzleBetterSqlite3({
  ...nothing,
  exec() {},
  inTransaction: false,
  sync() {},
} as never);
const table = pgTable("limits", { name: text("name"), key: text("user_id") });
const given =
  (options: object, db = drizzlePg({ client: new pg.Pool() })) =>
  () =>
    drizzleStore(db, options as never);
const isolation = given({ isolation: "serializable" }, drizzlePgProxy(answerNothing) as never);

describe("drizzleStore", () => {
  itThrows(RateLimitConfigError, [
    refused(
      looksLike,
      /synchronous, and its client is not one of better-sqlite3, .*; use drizzle-orm\/libsql/,
    ),
    refused(
      drizzleSqlJs(nothing as never),
      /its transactions are synchronous, .* use drizzle-orm\/libsql/,
    ),
    refused(
      drizzleD1(nothing as never),
      "its client is no binding to D1; give Drizzle one, such as env.DB",
    ),
    refused(drizzleSqliteProxy(answerNothing), "one connection for all"),
    refused(drizzleMysqlProxy(answerNothing), "no transactions; use drizzle-orm/mysql2"),
    refused(drizzlePg({ client: new pg.Client() }), /one connection.*give Drizzle a pg.Pool/),
    refused(
      databaseOf("FutureDialect", "LibSQLSession"),
      "dialect (FutureDialect, of the driver LibSQLSession) is not known",
      /known are .* in Drizzle 0\.38 to 0\.45, and 1\.0 from its betas on/,
    ),
    refused(
      databaseOf("SingleStoreDialect", "SingleStoreDriverSession"),
      "driver (SingleStoreDriverSession) is for another database",
    ),
    refused(databaseOf("PgDialect", "EffectPgSession"), "EffectPgSession returns effects"),
    refused(databaseOf("SQLiteDialect", "TursoDatabaseSession"), "TursoDatabaseSession has not"),
    refused(
      databaseOf("SQLiteDialect", "BunSQLiteSession"),
      "one connection for all; use drizzle-orm/libsql or drizzle-orm/bun-sqlite",
    ),
    refused(databaseOf("PgDialect", "BunSQLSession"), "not a SQL client of Bun"),
    refused({}, "must be what drizzle() returns"),
    [
      given({ table }),
      'table "limits" must have the columns name, key, shard, used, ts; it lacks key, shard, used, ts',
    ],
    [given({ table: 5 }), "a Drizzle table, or the name"],
    [isolation, "PgRemoteSession of drizzle-orm has no transactions, so leave isolation out"],
  ]);

  it("refuses a single connection of mysql2", () => {
    const connection = mysql.createConnection({ host: "127.0.0.1", port: 1 });
    connection.on("error", () => {});
    onTestFinished(() => connection.destroy());
    const db = drizzleMysql({ client: connection });
    expect(() => drizzleStore(db)).toThrow(/give Drizzle a pool of mysql2/);
  });
});

describe("drizzleStore", () => {
  async function setUp() {
    const database = await createPostgres();
    const pool = connectPool(database.url);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    return pool;
  }

  it("follows the name and the schema of a Drizzle table", async () => {
    const pool = await setUp();
    await pool.query('CREATE SCHEMA app; CREATE TABLE app.limits (LIKE "RateLimit" INCLUDING ALL)');
    const columns = Object.fromEntries(
      ["name", "key", "shard", "used", "ts"].map((name) => [name, text(name)]),
    );
    const db = drizzlePg({ client: pool });
    const stores = [
      drizzleStore(db, { table: pgSchema("app").table("limits", columns) }),
      drizzleStore(db, { table: "limits", schema: "app" }),
    ];
    for (const store of stores) await createRateLimiter({ store, limits }).limit("few");
    const { rows } = await pool.query("SELECT name, used FROM app.limits");
    expect(rows).toEqual([{ name: "few", used: expect.closeTo(2, 1) }]);
    expect((await pool.query('SELECT 1 FROM "RateLimit"')).rowCount).toBe(0);
  });

  it("decides on a driver without transactions, and says what does not work", async () => {
    const pool = await setUp();
    const db = drizzlePgProxy(async (query, params) => pool.query(query, params));
    const limiter = createRateLimiter({ store: drizzleStore(db), limits });
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 3 === 0 ? limiter.limit("few", { reserve: true }) : limiter.limit("few"),
      ),
    );
    const granted = results.filter(({ ok }) => ok).length;
    expect(granted).toBeGreaterThanOrEqual(10);
    expect(granted).toBeLessThanOrEqual(15);
    await limiter.reset("few");
    expect((await limiter.getValue("few")).value).toBe(10);
    const both = [{ name: "few" }, { name: "few", key: "ann" }] as const;
    await limiter.limit("few");
    // One row is updated, and the other one inserted.
    expect(await limiter.limitAll(both)).toMatchObject({ ok: true });
    await expect(limiter.transaction(async () => {})).rejects.toThrow(
      "transaction() needs a transaction, and this driver has none",
    );
    expect(() => limiter.using(db as never)).toThrow(
      "using() needs a transaction, and this driver has none",
    );
  });

  it("works on a libsql client in memory that is shared", async () => {
    const client = connectLibsql("file::memory:?cache=shared");
    onTestFinished(() => client.close());
    await client.execute(
      `CREATE TABLE "RateLimit" (name TEXT, key TEXT, shard INTEGER, used REAL, ts REAL, PRIMARY KEY (name, key, shard))`,
    );
    const limiter = createRateLimiter({ store: drizzleStore(drizzleLibsql({ client })), limits });
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
  });

  it("works on a database with read replicas, and reads the primary", async () => {
    const pool = await setUp();
    const unused = drizzlePg({
      client: connectPool("postgresql://127.0.0.1:1/none"),
    });
    const db = withReplicas(drizzlePg({ client: pool }), [unused]);
    const limiter = createRateLimiter({ store: drizzleStore(db), limits });
    await limiter.limit("few", { count: 4 });
    await db.transaction((tx) => limiter.using(tx).limit("few"));
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(5);
  });
});
