import { describe, expect, it, onTestFinished } from "vitest";
import {
  type BatchEvent,
  createRateLimiter,
  HOUR,
  MINUTE,
  prismaStore,
  sqlStore,
} from "../../../../../server/index.js";
import { mysqlDriver } from "../../../../../server/store/drivers/mysql/mysql-driver.js";
import { createMysql, mysqlUrl } from "../../../../support/database.js";
import { mysql8Driver } from "../../../../support/mysql-8.js";
import { connectMysql2 } from "../../../../support/open-mysql.js";
import { openStore } from "../../../../support/open-store.js";
import { describeSqlStore } from "../../sql-contract.js";

if (mysqlUrl === undefined) {
  describe("prismaStore on MySQL or MariaDB", () => {
    it("passes the contract", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
  });
} else {
  describeSqlStore("mysql", "prismaStore on MySQL or MariaDB", () => createMysql());
  describeSqlStore("mysql", "prismaStore on a latin1 database", () =>
    createMysql(mysqlUrl, "latin1"),
  );
  describeSqlStore("mysql 8", "mysqlStore, as on MySQL 8,", () => createMysql());

  describe("mysqlStore, as on MySQL 8, whose JSON is not exact,", () => {
    it("grants each of 30 calls that take fractions from two rows, in batches", async () => {
      await using database = await createMysql();
      const opened = openStore("mysql 8", database.url);
      const limits = { shares: { kind: "token bucket", rate: 7, period: HOUR } } as const;
      const limiter = createRateLimiter({ store: opened.store, limits });
      const results = [];
      for (const count of [0.1, 1 / 3, 1.1]) {
        const calls = Array.from({ length: 10 }, (_, i) =>
          limiter.limitAll([
            { name: "shares", key: `from ${i}`, count },
            { name: "shares", key: `to ${i}`, count },
          ]),
        );
        results.push(...(await Promise.all(calls)));
      }
      await opened.close();
      expect(results.map(({ ok }) => ok)).toEqual(Array(30).fill(true));
    });
  });

  describe("mysqlStore, as on MySQL 8, which cannot return what it has written,", () => {
    it("reports each call once to onBatch, and sends two statements for it", async () => {
      await using database = await createMysql();
      const pool = connectMysql2(database.url);
      onTestFinished(() => pool.end());
      const texts: string[] = [];
      const driver = mysql8Driver(mysqlDriver(pool));
      const { query, execute } = driver;
      const recording: typeof driver = {
        ...driver,
        query: (text, ...rest) => (texts.push(text), query(text, ...rest)),
        execute: (text, ...rest) => (texts.push(text), execute(text, ...rest)),
      };
      const events: BatchEvent[] = [];
      const limiter = createRateLimiter({
        store: sqlStore(recording),
        limits: { many: { kind: "token bucket", rate: 100, period: HOUR } },
        onBatch: (event) => void events.push(event),
      });
      const keys = ["a", "b", "c"];
      for (const key of keys) await limiter.limit("many", { key });
      const atFirst = events.splice(0).length;
      texts.length = 0;
      for (const key of keys) await limiter.limit("many", { key });
      expect({ atFirst, later: events.map(({ way, calls }) => ({ way, calls })) }).toEqual({
        atFirst: 3,
        later: keys.map(() => ({ way: "decide", calls: 1 })),
      });
      expect(texts).toHaveLength(2 * keys.length);
    });
  });

  describe("prismaStore on MySQL or MariaDB", () => {
    it("rejects calls while a column ignores case, and works once the column is fixed", async () => {
      await using database = await createMysql();
      const { prisma } = database;
      const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;
      await prisma.$executeRaw`ALTER TABLE RateLimit MODIFY \`key\` VARCHAR(192) COLLATE utf8mb4_general_ci NOT NULL`;
      const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
      await expect(limiter.limit("once", { key: "k" })).rejects.toThrow(
        /column key of table RateLimit has the collation utf8mb4_general_ci/,
      );
      await prisma.$executeRaw`ALTER TABLE RateLimit MODIFY \`key\` VARCHAR(192) COLLATE utf8mb4_bin NOT NULL`;
      expect(await limiter.limit("once", { key: "k" })).toMatchObject({ ok: true });
    });
  });
}
