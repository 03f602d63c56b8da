import { describe, it } from "vitest";
import { describeSqlStore } from "../server/store/sql-contract.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";
import { hasBetterSqlite3 } from "../support/open-orm.js";

describeSqlStore("kysely pg", "Kysely on pg", () => createPostgres());

describe("Kysely on mysql2", () => {
  if (mysqlUrl === undefined)
    it("passes the contract", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
  else describeSqlStore("kysely mysql2", "it", () => createMysql());
});

describe("Kysely on better-sqlite3", () => {
  if (!hasBetterSqlite3)
    it("passes the contract", ({ skip }) => skip("it needs npm run install:test-projects"));
  else describeSqlStore("kysely sqlite", "it", createSqlite);
});
