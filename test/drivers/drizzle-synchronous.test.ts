import { describe, it } from "vitest";
import {
  describeSynchronousDrizzle,
  drizzleBetterSqlite3,
} from "../support/drizzle-synchronous.js";
import { hasBetterSqlite3, NO_BETTER_SQLITE3 } from "../support/open-sqlite.js";

if (hasBetterSqlite3) {
  describeSynchronousDrizzle("better-sqlite3", drizzleBetterSqlite3);
} else {
  describe("drizzleStore on better-sqlite3", () => {
    it("passes the contract of stores", ({ skip }) => skip(NO_BETTER_SQLITE3));
  });
}
