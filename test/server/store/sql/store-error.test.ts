/** Error messages of real drivers, for statements with a key that must not get into a log. */
import { createClient } from "@libsql/client";
import { sql } from "drizzle-orm";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import mariadb from "mariadb";
import mysql from "mysql2/promise";
import postgres from "postgres";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createRateLimiter, MINUTE, pgStore } from "../../../../server/index.js";
import { postgresql } from "../../../../server/store/sql/postgresql/postgresql.js";
import { storeError } from "../../../../server/store/sql/store-error.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { connectPool } from "../../../support/open-store.js";

const SECRET = "a private key";
/** A second line must not get around the rules. */
const KEY = `${SECRET}\n${SECRET}`;

async function messageFor(failing: PromiseLike<unknown>): Promise<string> {
  const error: unknown = await failing.then(
    () => expect.fail("no error"),
    (reason: unknown) => reason,
  );
  const wrapped = storeError(error, { name: "RateLimit" }, postgresql);
  expect(wrapped.cause).toBe(error);
  expect(wrapped.message).toMatch(/^the rate limit store failed: \S/);
  expect(wrapped.message).not.toContain(SECRET);
  return wrapped.message.replace("the rate limit store failed: ", "");
}

describe("the message of a RateLimitStoreError has no parameter of the statement", () => {
  it("on PostgreSQL, through pg, postgres.js, Drizzle and Prisma", async () => {
    const { url, prisma, ...database } = await createPostgres();
    const pool = connectPool(url);
    const client = postgres(url, { max: 1 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(async () => void (await Promise.all([pool.end(), client.end()])));
    const drizzled = drizzlePg(pool);
    const number = "SELECT $1::text::float8";
    const invalid = 'invalid input syntax for type double precision: "…"';
    expect(await messageFor(pool.query(number, [KEY]))).toBe(invalid);
    expect(await messageFor(client.unsafe(number, [KEY]))).toBe(invalid);
    expect(await messageFor(drizzled.execute(sql`SELECT ${KEY}::text::float8`))).toBe(invalid);
    expect(await messageFor(prisma.$queryRawUnsafe(number, KEY))).toContain(invalid);
    expect(await messageFor(pool.query(number, ["1e999"]))).toBe(
      '"…" is out of range for type double precision',
    );
    await pool.query('DROP TABLE "RateLimit"');
    const missing = sql`SELECT * FROM "RateLimit" WHERE "key" = ${KEY}`;
    expect(await messageFor(drizzled.execute(missing))).toMatch(
      /^relation "RateLimit" does not exist \(create it by the SQL in /,
    );
  });

  it("on MySQL or MariaDB, through mysql2, mariadb and Prisma", async ({ skip }) => {
    if (mysqlUrl === undefined) return skip("TEST_MYSQL_URL is not set");
    const { url, prisma, ...database } = await createMysql();
    const pool = mysql.createPool({ uri: url });
    const { hostname: host, port, username: user, password, pathname } = new URL(url);
    const other = mariadb.createPool({
      host,
      port: Number(port || 3306),
      user,
      password: decodeURIComponent(password),
      database: pathname.slice(1),
    });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(async () => void (await Promise.all([pool.end(), other.end()])));
    const insert = "INSERT INTO RateLimit VALUES ('n', ?, 0, ?, 0)";
    await pool.query(insert, [KEY, 1]);
    /** Each statement fails through each driver with a message that contains these words. */
    const failing: [text: string, params: unknown[], message: string][] = [
      [insert, [KEY, 1], "Duplicate entry '…'"],
      ["INSERT INTO RateLimit VALUES ('n', 'b', 0, ?, 0)", [KEY], "value: '…'"],
      ["UPDATE RateLimit SET used = 1.7e308 * (used + ?)", [9.75e307], "out of range in '…'"],
      ["SELECT key FROM RateLimit WHERE key = ?", [KEY], "near '…'"],
      ["SELECT * FROM nowhere WHERE id = ?", [KEY], "doesn't exist"],
    ];
    for (const [text, params, message] of failing) {
      for (const run of [
        () => pool.query(text, params),
        () => other.query(text, params),
        () => prisma.$queryRawUnsafe(text, ...params),
      ]) {
        const found = await messageFor(run());
        expect(found).toContain(message);
        expect(found).not.toContain("9.75");
      }
    }
  });

  it("on SQLite, through libsql and Drizzle", async () => {
    const database = await createSqlite();
    const client = createClient({ url: database.url });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => client.close());
    const text = `SELECT * FROM nowhere WHERE "key" = ?`;
    const args = [KEY];
    expect(await messageFor(client.execute({ sql: text, args }))).toContain("no such table");
    const drizzled = drizzleLibsql(client).run(sql`SELECT * FROM nowhere WHERE "key" = ${KEY}`);
    expect(await messageFor(drizzled)).toMatch(/^no such table: nowhere/);
  });

  it("where the wrapper has a message and its cause has none", async () => {
    const message = `Failed query: INSERT …\nparams: n,${KEY}`;
    const cases: [error: unknown, expected: string][] = [
      [Object.assign(new Error(message), { cause: {} }), "Failed query: INSERT …"],
      [{ message: `Deadlock\nsql: INSERT … - parameters:['${KEY}']` }, "Deadlock"],
      [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
      [new Error("", { cause: new Error("") }), "an error without a message"],
      ["down", "down"],
    ];
    for (const [error, expected] of cases) {
      expect(await messageFor(Promise.reject(error))).toBe(expected);
    }
  });

  it("and ends a chain of causes that is a cycle", async () => {
    const error = new Error("outer", { cause: { message: "inner" } });
    Object.assign(error.cause!, { cause: error });
    expect(await messageFor(Promise.reject(error))).toMatch(/^(outer|inner)$/);
  });
});

describe("retries after conflicts", () => {
  it("log nothing, and the first failure after them is logged once", async () => {
    const database = await createPostgres();
    const pool = connectPool(database.url);
    onTestFinished(async () => {
      vi.restoreAllMocks();
      await pool.end();
      await database[Symbol.asyncDispose]();
    });
    const consoles = (["log", "info", "warn", "error", "debug"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => {}),
    );
    const logger = { warn: vi.fn(), error: vi.fn() };
    const limiter = createRateLimiter({
      store: pgStore(pool),
      logger,
      limits: { posts: { kind: "token bucket", rate: 1000, period: MINUTE } },
    });
    let tries = 0;
    // Each transaction reads the row, and then changes it. At Serializable they conflict.
    await Promise.all(
      Array.from({ length: 8 }, () =>
        limiter.transaction(async ({ check, limit }) => {
          tries++;
          await check("posts");
          await limit("posts", { throws: true });
        }),
      ),
    );
    expect(tries).toBeGreaterThan(8);
    for (const each of [...consoles, logger.warn, logger.error]) {
      expect(each).not.toHaveBeenCalled();
    }
    await pool.query('DROP TABLE "RateLimit"');
    const failed = await Promise.allSettled([limiter.limit("posts"), limiter.limit("posts")]);
    expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });
});

it("says that the application may hold all connections when it has waited for one", async () => {
  await using database = await createPostgres();
  const pool = connectPool(database.url, 1);
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  // A busy machine may take longer for the connection above.
  pool.options.connectionTimeoutMillis = 50;
  const limiter = createRateLimiter({ store: pgStore(pool), limits: {}, logger: false });
  const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;
  await expect(limiter.limit("one", { config })).rejects.toThrow(
    /timeout exceeded when trying to connect \(if .* the application holds all connections/,
  );
  client.release();
});

it.skipIf(mysqlUrl === undefined)("keeps what mariadb says of its pool", async () => {
  const pool = mariadb.createPool(
    `${mysqlUrl!.replace("mysql:", "mariadb:")}?connectionLimit=1&acquireTimeout=150`,
  );
  onTestFinished(() => pool.end());
  const connection = await pool.getConnection();
  expect(await messageFor(pool.query("SELECT 1"))).toMatch(
    /^pool timeout: .* \(pool connections: active=1 .*\) \(if .* the application holds all/,
  );
  await connection.release();
});

it("says that the SQL of the table needs another name where the store's table has one", () => {
  const cause = new Error('relation "rate_limits" does not exist');
  const { message } = storeError(cause, { name: "rate_limits" }, postgresql);
  expect(message).toMatch(/migrations, with "rate_limits" in place of "RateLimit", or by a /);
  const usual = storeError(cause, { name: "RateLimit" }, postgresql);
  expect(usual.message).not.toContain("in place of");
});
