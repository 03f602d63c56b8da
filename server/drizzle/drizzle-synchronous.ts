/**
 * Synchronous drivers of Drizzle, such as `better-sqlite3`. The store's statements go to the client under
 * Drizzle. Drizzle's own transactions end before anything can be awaited in them. No call of a limiter
 * can be part of such a transaction.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import type { SqliteDatabaseLike } from "../store/drivers/sqlite/sqlite-clients.js";
import { isSynchronous, synchronousDrivers } from "../store/drivers/sqlite/sqlite-synchronous.js";
import { createSqlStore, type SqlStoreOptions } from "../store/sql/create-sql-store.js";
import type { RateLimitStore } from "../store/store.js";

const INSTEAD =
  "Drizzle's transactions on this driver are synchronous, and cannot wait for a limiter; use " +
  "drizzle-orm/libsql, or sqliteStore(db.$client, { open }), whose transactions are connections";

export function synchronousStore(
  client: SqliteDatabaseLike,
  options: SqlStoreOptions,
): RateLimitStore<SqliteDatabaseLike> {
  const { transactions, single, atOnce } = synchronousDrivers(client, undefined);
  const within = (tx: unknown): never => {
    throw new RateLimitConfigError("tx", tx, { message: `using() has no transaction: ${INSTEAD}` });
  };
  const store = createSqlStore({ ...transactions, within }, options, single, atOnce);
  return {
    ...store,
    async transaction() {
      const message = `transaction() needs a transaction: ${INSTEAD}`;
      throw new RateLimitConfigError("db", client, { message });
    },
  };
}

/**
 * Bun's client looks like better-sqlite3. The client of the package `libsql` does, too, but it may be a
 * stale replica. The method `sync` tells a client of `libsql` apart.
 */
export function isSynchronousClient(client: object): client is SqliteDatabaseLike {
  return isSynchronous(client) && !("sync" in client);
}
