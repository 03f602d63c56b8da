import { describe, expect, it } from "vitest";
import { createRateLimiter, HOUR, MINUTE, prismaStore } from "../../../../server/index.js";
import { createMysql, mysqlUrl } from "../../../support/database.js";
import { openStore } from "../../../support/open-store.js";
import { describeSqlStore } from "../sql-contract.js";

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
