/** A store on a driver that the application has written. `docs/drivers.md` shows how. */
import type { SqlDriver } from "./sql/driver.js";
import { createSqlStore, type SqlStoreOptions as Options } from "./sql/create-sql-store.js";
import type { RateLimitStore } from "./store.js";

/** The options that all SQL stores share. */
export interface SqlStoreOptions {
  /** The table's name, as in the package's migrations. @default "RateLimit" */
  table?: string | undefined;
  /** The schema of the table. On MySQL, its database. @default the connection's own */
  schema?: string | undefined;
  /**
   * `"serializable"` decides every call in a Serializable transaction, which is retried on
   * conflicts. Without it, calls are just as exact, by guarded writes, and much faster.
   * @default guarded writes
   */
  isolation?: Options["isolation"];
}

/**
 * A store on a driver. One store per driver and process: calls that share a store share their
 * round trips.
 *
 * @param driver runs the statements of the store and the application's transactions. `using` takes
 * its type of a transaction.
 * @throws RateLimitConfigError when `isolation` is neither `"serializable"` nor left out, or the
 * driver's `dialect` is not known.
 */
export function sqlStore<TTransaction>(
  driver: SqlDriver<TTransaction>,
  { table = "RateLimit", schema, isolation }: SqlStoreOptions = {},
): RateLimitStore<TTransaction> {
  return createSqlStore(driver, { table: { name: table, schema }, isolation });
}
