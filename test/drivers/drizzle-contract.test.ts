import { describe, it } from "vitest";
import { describeSqlStore } from "../server/store/sql-contract.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";

describeSqlStore("drizzle pg", "Drizzle on node-postgres", () => createPostgres());
describeSqlStore("drizzle postgres-js", "Drizzle on postgres-js", () => createPostgres());
describeSqlStore("drizzle libsql", "Drizzle on libsql", createSqlite);

describe("Drizzle on mysql2", () => {
  if (mysqlUrl === undefined)
    it("passes the contract", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
  else describeSqlStore("drizzle mysql2", "it", () => createMysql());
});
