/** Stores on one table that share what they know of it. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, sqlStore } from "../../../../../server/index.js";
import { mysqlDriver } from "../../../../../server/store/drivers/mysql/mysql-driver.js";
import { pgDriver } from "../../../../../server/store/drivers/pg/pg-driver.js";
import type { SqlDriver } from "../../../../../server/store/sql/driver.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../../support/database.js";
import { connectMysql2 } from "../../../../support/open-mysql.js";
import pg from "pg";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

/** A driver that counts its statements, and shares what its store knows. */
function counting<TTransaction>(driver: SqlDriver<TTransaction>, database: object) {
  const counts = { statements: 0 };
  const counted: SqlDriver<TTransaction> = {
    ...driver,
    database,
    query(...statement) {
      counts.statements++;
      return driver.query(...statement);
    },
    execute(...statement) {
      counts.statements++;
      return driver.execute(...statement);
    },
  };
  return { counts, limiter: createRateLimiter({ store: sqlStore(counted), limits }) };
}

if (mysqlUrl === undefined) {
  it("prepares each store on a shared table", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
}

describe.skipIf(mysqlUrl === undefined)("two stores on one table of MariaDB", () => {
  it("take in one statement each, also if the other one checked the table after both were made", async () => {
    const database = await createMysql();
    const pool = connectMysql2(database.url, { connectionLimit: 2 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    const shared = {};
    const [first, second] = [
      counting(mysqlDriver(pool), shared),
      counting(mysqlDriver(pool), shared),
    ];
    await first.limiter.limit("few");
    await first.limiter.limit("few");
    const [{ version }] = (await pool.query("SELECT VERSION() AS version"))[0] as [
      { version: string },
    ];
    const before = first.counts.statements;
    await first.limiter.limit("few");
    const each = first.counts.statements - before;
    // MySQL has no plain take, so it is not what this test is about.
    if (/mariadb/i.test(version)) expect(each).toBe(1);
    expect((await second.limiter.limit("few")).ok).toBe(true);
    expect(second.counts.statements).toBe(each);
  });
});

describe("two stores on one table of PostgreSQL", () => {
  it("say that it is missing, and use the one that is made again", async () => {
    const database = await createPostgres();
    const pool = new pg.Pool({ connectionString: database.url, max: 2 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    const shared = {};
    const stores = [counting(pgDriver(pool), shared), counting(pgDriver(pool), shared)];
    for (const { limiter } of stores) expect((await limiter.limit("few")).ok).toBe(true);
    await pool.query(`ALTER TABLE "RateLimit" RENAME TO "Away"`);
    for (const { limiter } of stores) {
      // The first answer is that of the statement, the second one that of the check.
      await expect(limiter.limit("few")).rejects.toThrow("the rate limit store failed");
      await expect(limiter.limit("few")).rejects.toThrow('table "RateLimit" does not exist');
    }
    await pool.query(`CREATE TABLE "RateLimit" (LIKE "Away" INCLUDING ALL)`);
    for (const { limiter } of stores) {
      expect((await limiter.limit("few", { key: "again" })).ok).toBe(true);
    }
    expect((await pool.query(`SELECT 1 FROM "RateLimit"`)).rowCount).toBe(1);
  });
});
