import { describe, it } from "vitest";
import { describeSqlStore } from "../store/sql-contract.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";
import { hasBetterSqlite3 } from "../support/open-orm.js";

describeSqlStore("kysely pg", "Kysely on pg", () => createPostgres());

describe("Kysely on mysql2", () => {
  if (mysqlUrl === undefined) it.skip("needs a server, named by TEST_MYSQL_URL");
  else describeSqlStore("kysely mysql2", "it", () => createMysql());
});

describe("Kysely on better-sqlite3", () => {
  if (!hasBetterSqlite3) it.skip("needs npm run install:test-projects");
  else describeSqlStore("kysely sqlite", "it", createSqlite);
});
