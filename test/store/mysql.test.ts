import { describe, expect, it } from "vitest";
import { createRateLimiter, MINUTE, prismaStore } from "../../server/index.js";
import { createMysql, mysqlUrl } from "../support/database.js";
import { describeSqlStore } from "./sql-contract.js";

if (mysqlUrl === undefined) {
  describe("prismaStore on MySQL or MariaDB", () => {
    it("passes the contract", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
  });
} else {
  describeSqlStore("mysql", "prismaStore on MySQL or MariaDB", () => createMysql());
  describeSqlStore("mysql", "prismaStore on a latin1 database", () =>
    createMysql(mysqlUrl, "latin1"),
  );

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
