/** The contract of stores on one client. Bun puts its test runner in the place of Vitest. */
import { createMysql, createPostgres, createSqlite } from "../../../support/database.js";
import type { StoreKind } from "../../../support/open-store.js";
import { describeSqlStore } from "../../../server/store/sql-contract.js";

const { STORE_KIND, STORE_SERVER: server = "" } = process.env;

describeSqlStore(STORE_KIND as StoreKind, "Bun", () => {
  if (server === "") return createSqlite();
  return server.startsWith("mysql") ? createMysql(server) : createPostgres(server);
});
