import * as mariadbCallback from "mariadb/callback";
import mysql2Callback from "mysql2";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  MINUTE,
  type MysqlPoolLike,
  type MysqlQueryable,
  mysqlStore,
  RateLimitStoreError,
} from "../../../../../server/index.js";
import { mysqlDriver } from "../../../../../server/store/drivers/mysql/mysql-driver.js";
import { createMysql, mysqlUrl } from "../../../../support/database.js";
import { connectMariadb, connectMysql2 } from "../../../../support/open-mysql.js";

const limits = {
  few: { kind: "token bucket", rate: 10, period: MINUTE },
  tenths: { kind: "fixed window", rate: 1, period: MINUTE, start: 0, maxReserved: 1 },
} as const;

type Client = "mysql2" | "mariadb";
/** A pool of either client, with the methods that both have. */
interface TestPool extends MysqlPoolLike {
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
}

const connect: Record<Client, (url: string, options: object) => TestPool> = {
  mysql2: connectMysql2,
  mariadb: connectMariadb,
};

async function setUp(client: Client, options: object = {}) {
  const database = await createMysql();
  const pool = connect[client](database.url, { connectionLimit: 2, ...options });
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => pool.end());
  const limiter = createRateLimiter({ store: mysqlStore(pool), limits });
  return { database, pool, limiter };
}

const run = (connection: MysqlQueryable, sql: string) => connection.query({ sql });

const connectionId = async (driver: ReturnType<typeof mysqlDriver>) =>
  Number((await driver.query("SELECT CONNECTION_ID() AS id", []))[0]!["id"]);

describe.skipIf(mysqlUrl === undefined).each(["mysql2", "mariadb"] as const)(
  "mysqlStore on %s",
  (client) => {
    it("joins a transaction that the caller began on a connection of the pool", async () => {
      const { pool, limiter } = await setUp(client);
      const connection = await pool.getConnection();
      await run(connection, "START TRANSACTION");
      expect(await limiter.using(connection).limit("few", { count: 4 })).toMatchObject({
        ok: true,
        value: 6,
      });
      await run(connection, "ROLLBACK");
      connection.release();
      expect((await limiter.getValue("few")).value).toBe(10);
    });

    it("passes a connection to the callback of `transaction`, and rolls back when the callback throws", async () => {
      const { pool, limiter } = await setUp(client);
      await pool.query("CREATE TABLE posts (id int)");
      const post = (fails: boolean) =>
        limiter.transaction(async ({ tx, limit }) => {
          await limit("few", { throws: true });
          await run(tx, "INSERT INTO posts VALUES (1)");
          if (fails) throw new Error("post failed");
        });
      await post(false);
      await expect(post(true)).rejects.toThrow("post failed");
      const driver = mysqlDriver(pool);
      expect(await driver.query("SELECT * FROM posts", [])).toEqual([{ id: 1 }]);
      expect(Math.floor((await limiter.getValue("few")).value)).toBe(9);
    });

    it("runs its transactions at Serializable, and those alone", async () => {
      const { database, pool } = await setUp(client, { connectionLimit: 1 });
      const driver = mysqlDriver(pool);
      await pool.query("CREATE TABLE posts (id int PRIMARY KEY)");
      await pool.query("INSERT INTO posts VALUES (1)");
      // At Serializable, a plain read locks the row. Another connection then meets the lock.
      const other = connect[client](database.url, { connectionLimit: 1 });
      onTestFinished(() => other.end());
      const isLocked = () =>
        other
          .query("SELECT * FROM posts FOR UPDATE NOWAIT")
          .then(() => false)
          .catch(() => true);
      const readIn = (isolationLevel: "Serializable" | "ReadCommitted") =>
        driver.transaction(
          async (tx) => {
            await driver.within(tx).query("SELECT * FROM posts", []);
            return isLocked();
          },
          { isolationLevel },
        );
      expect(await readIn("Serializable")).toBe(true);
      expect(await readIn("ReadCommitted")).toBe(false);
      const connection = await pool.getConnection();
      await run(connection, "START TRANSACTION");
      await run(connection, "SELECT * FROM posts");
      expect(await isLocked()).toBe(false);
      await run(connection, "ROLLBACK");
      connection.release();
    });

    it("takes fractions of tokens from many keys at once, exactly, prepared or not", async () => {
      const { pool } = await setUp(client);
      const clock = createManualClock();
      const keys = [
        "a",
        "b",
        "__proto__",
        'quo"te',
        "it's",
        "\\",
        "\\' OR 1=1 -- ",
        "ä",
        "😀",
        "?",
      ];
      for (const prepare of [true, false]) {
        const store = mysqlStore(pool, { prepare });
        const limiter = createRateLimiter({ store, limits, clock });
        for (let round = 1; round <= 3; round++) {
          const results = await Promise.all(
            keys.map((key) => limiter.limit("tenths", { key, count: 0.1 })),
          );
          for (const { ok, value } of results) {
            expect(ok).toBe(true);
            expect(value).toBeCloseTo(1 - round / 10, 12);
          }
        }
        for (const key of keys) {
          expect(await limiter.limit("tenths", { key, count: 0.1 })).toMatchObject({ ok: true });
          await limiter.reset("tenths", { key });
        }
      }
    });

    it("does not depend on options of the pool that change results", async () => {
      const options = {
        mysql2: {
          rowsAsArray: true,
          namedPlaceholders: true,
          decimalNumbers: true,
          supportBigNumbers: true,
          bigNumberStrings: true,
          dateStrings: true,
          typeCast: () => "cast",
        },
        mariadb: {
          rowsAsArray: true,
          metaAsArray: true,
          nestTables: true,
          namedPlaceholders: true,
          insertIdAsNumber: true,
          bigIntAsNumber: true,
          dateStrings: true,
          foundRows: false,
          typeCast: () => "cast",
        },
      }[client];
      const { pool } = await setUp(client, options);
      for (const prepare of [true, false]) {
        const store = mysqlStore(pool, { prepare });
        const limiter = createRateLimiter({ store, limits, clock: createManualClock() });
        const [a] = await Promise.all([
          limiter.limit("few", { key: "a", count: 3 }),
          limiter.limit("few", { key: "b" }),
        ]);
        expect(a).toMatchObject({ ok: true, value: 7 });
        expect((await limiter.getValue("few", { key: "b" })).value).toBe(9);
        const both = await limiter.limitAll([
          { name: "few", key: "a" },
          { name: "few", key: "b", count: 0 },
        ]);
        expect(both.ok).toBe(true);
        await limiter.refund("few", { key: "a", count: 4, result: a });
        const rows = await store.list!("few", undefined, 10);
        expect(rows.map(({ key }) => key)).toEqual(["a", "b"]);
        await limiter.transaction(({ limit }) => limit("few", { key: "a" }));
        for (const key of ["a", "b"]) await limiter.reset("few", { key });
      }
    });

    it("rejects calls over connections whose character set cannot tell all keys apart", async () => {
      const { limiter } = await setUp(client, { charset: "latin1" });
      await expect(limiter.limit("few", { key: "ключ" })).rejects.toThrow(
        /the connection has the character set latin1, .* connect with utf8mb4/,
      );
    });

    it("is safe under NO_BACKSLASH_ESCAPES, and rejects calls there that are not prepared", async () => {
      const { pool, limiter } = await setUp(client, { connectionLimit: 1 });
      await pool.query("SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')");
      const key = "\\' OR 1=1 -- ";
      for (const value of [9, 8]) {
        expect(Math.floor((await limiter.limit("few", { key })).value)).toBe(value);
      }
      const text = createRateLimiter({ store: mysqlStore(pool, { prepare: false }), limits });
      await expect(text.limit("few", { key })).rejects.toThrow(/NO_BACKSLASH_ESCAPES/);
    });

    it("names a missing table and no parameter in the error, and accepts another table name", async () => {
      const { pool, limiter } = await setUp(client);
      await limiter.limit("few", { key: "secret" });
      await pool.query("RENAME TABLE RateLimit TO `rate ``limits```");
      const error = (await limiter
        .limit("few", { key: "secret" })
        .catch((reason: unknown) => reason)) as Error;
      expect(error).toBeInstanceOf(RateLimitStoreError);
      expect(error.message).toMatch(
        /^the rate limit store failed: Table '\w+\.RateLimit' doesn't exist \(create it by the SQL in .*\)$/i,
      );
      expect((error.cause as Error).message).not.toContain("secret");
      const missing = createRateLimiter({ store: mysqlStore(pool), limits });
      await expect(missing.limit("few")).rejects.toThrow(/"RateLimit" does not exist/);
      const renamed = mysqlStore(pool, { table: "rate `limits`" });
      expect(await createRateLimiter({ store: renamed, limits }).limit("few")).toMatchObject({
        ok: true,
      });
    });

    it("answers again after the server has killed its connections", async () => {
      const { database, pool, limiter } = await setUp(client, { connectionLimit: 1 });
      const driver = mysqlDriver(pool);
      await limiter.limit("few");
      const kill = (id: number) => database.prisma.$executeRawUnsafe(`KILL ${id}`);
      const lost = /connection|socket|EPIPE|ECONNRESET/i;
      // A connection in the middle of a statement:
      const id = await connectionId(driver);
      const sleeping = driver.query("SELECT SLEEP(20)", []);
      await expect
        .poll(async () => {
          const [row] = await database.prisma.$queryRawUnsafe<{ info: string | null }[]>(
            `SELECT INFO AS info FROM information_schema.PROCESSLIST WHERE ID = ${id}`,
          );
          return row?.info;
        })
        .toEqual(expect.stringContaining("SLEEP"));
      await Promise.all([expect(sleeping).rejects.toThrow(lost), kill(id)]);
      expect(await limiter.limit("few")).toMatchObject({ ok: true });
      // A connection in the middle of a transaction:
      const killed = driver.transaction(
        async (tx) => {
          const [row] = await driver.within(tx).query("SELECT CONNECTION_ID() AS id", []);
          await kill(Number(row!["id"]));
          await driver.within(tx).query("SELECT 1", []);
        },
        { isolationLevel: "Serializable" },
      );
      await expect(killed).rejects.toThrow(lost);
      // An idle connection, of which the pool may learn before or after the next call:
      await kill(await connectionId(driver));
      await expect
        .poll(() =>
          limiter.limit("few").then(
            ({ ok }) => ok,
            () => false,
          ),
        )
        .toBe(true);
    });

    it("rejects when all connections are lent, and works once one is back", async () => {
      const { pool } = await setUp(client, { connectionLimit: 1 });
      const driver = mysqlDriver(pool);
      const connection = await pool.getConnection();
      const limiter = createRateLimiter({ store: mysqlStore(pool), limits, timeout: 50 });
      await expect(limiter.limit("few")).rejects.toBeInstanceOf(RateLimitStoreError);
      const late = driver.transaction(async () => {}, {
        isolationLevel: "Serializable",
        maxWait: 30,
      });
      await expect(late).rejects.toThrow("no connection was free within 30 ms");
      connection.release();
      expect(await driver.query("SELECT 1 AS one", [])).toEqual([{ one: expect.anything() }]);
      // The call that had timed out took nothing.
      const patient = createRateLimiter({ store: mysqlStore(pool), limits });
      expect((await patient.getValue("few")).value).toBe(10);
    });

    it("rejects a transaction that takes too long, and replaces its connection", async () => {
      const { pool } = await setUp(client, { connectionLimit: 1 });
      const driver = mysqlDriver(pool);
      const slow = driver.transaction((tx) => driver.within(tx).query("SELECT SLEEP(20)", []), {
        isolationLevel: "Serializable",
        timeout: 50,
      });
      await expect(slow).rejects.toThrow("the transaction took longer than 50 ms");
      const rows = await driver.query("SELECT 1 AS one", []);
      expect(rows).toHaveLength(1);
    });

    it("keeps using a connection after a statement on it failed", async () => {
      const { pool } = await setUp(client, { connectionLimit: 1 });
      const driver = mysqlDriver(pool);
      const before = await connectionId(driver);
      await expect(driver.query("SELECT * FROM missing", [])).rejects.toThrow(/doesn't exist/);
      expect(await connectionId(driver)).toBe(before);
    });

    it("answers calls on other keys when one row holds an extreme number", async () => {
      const { pool, limiter } = await setUp(client);
      await pool.query("INSERT INTO RateLimit VALUES ('few', 'poisoned', 0, 1, -1.7e308)");
      const results = await Promise.all(
        ["a", "poisoned", "b"].map((key) => limiter.limit("few", { key })),
      );
      expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    });
  },
);

describe.skipIf(mysqlUrl === undefined)("mysqlStore on pools with callbacks", () => {
  it("works on a pool of mysql2", async () => {
    const { database } = await setUp("mysql2");
    const pool = mysql2Callback.createPool({ uri: database.url, connectionLimit: 1 });
    onTestFinished(() => pool.promise().end());
    const limiter = createRateLimiter({ store: mysqlStore(pool), limits });
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    const typed = await limiter.transaction(async ({ tx }) => tx.query("SELECT 1 AS one"));
    expect(typed[0]).toEqual([{ one: 1 }]);
  });

  it("fails on a pool of mariadb, and says which pool it needs", async () => {
    const { hostname: host, port, username: user } = new URL(mysqlUrl!);
    const pool = mariadbCallback.createPool({ host, port: Number(port), user });
    onTestFinished(() => new Promise<void>((resolve) => pool.end(() => resolve())));
    const limiter = createRateLimiter({ store: mysqlStore(pool as never), limits });
    await expect(limiter.limit("few")).rejects.toThrow(/not of mariadb\/callback/);
  });
});
