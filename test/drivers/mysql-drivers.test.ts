import { describe, it } from "vitest";
import { createMysql, mysqlUrl } from "../support/database.js";
import { describeSqlStore } from "../server/store/sql-contract.js";

if (mysqlUrl === undefined) {
  describe("mysqlStore", () => {
    it("passes the contract", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
  });
} else {
  describeSqlStore("mysql2", "mysqlStore on mysql2", () => createMysql());
  describeSqlStore("mariadb", "mysqlStore on mariadb", () => createMysql());
  describeSqlStore("mariadb and prisma", "prismaStore with a pool of mariadb", () => createMysql());
}
