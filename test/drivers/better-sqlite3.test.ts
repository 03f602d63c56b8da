import { describe, it } from "vitest";
import { createSqlite } from "../support/database.js";
import { hasBetterSqlite3, NO_BETTER_SQLITE3 } from "../support/open-sqlite.js";
import { describeSqlStore } from "../server/store/sql-contract.js";
import { describeSynchronous } from "../server/store/drivers/sqlite/sqlite-clients.js";

if (hasBetterSqlite3) {
  describeSqlStore("better-sqlite3", "sqliteStore on better-sqlite3", createSqlite);
  describeSynchronous("better-sqlite3");
} else {
  describe("sqliteStore on better-sqlite3", () => {
    it("passes the contract of stores", ({ skip }) => skip(NO_BETTER_SQLITE3));
  });
}
