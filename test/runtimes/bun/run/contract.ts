/** The contract of stores on one client. Bun replaces Vitest by its own test runner. */
import { npmVersion } from "drizzle-orm/version";
import { createMysql, createPostgres, createSqlite } from "../../../support/database.js";
import type { StoreKind } from "../../../support/open-store.js";
import { describeSqlStore } from "../../../server/store/sql-contract.js";

const { DRIZZLE_VERSION, STORE_KIND, STORE_SERVER: server = "" } = process.env;

if (DRIZZLE_VERSION === "1" && !npmVersion.startsWith("1.0.0-")) {
  throw new Error(`Drizzle is not the one that was asked for, but ${npmVersion}`);
}

describeSqlStore(STORE_KIND as StoreKind, "Bun", () => {
  if (server === "") return createSqlite();
  return server.startsWith("mysql") ? createMysql(server) : createPostgres(server);
});
