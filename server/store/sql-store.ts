/** A store on a driver that the application has written. `docs/drivers.md` shows how. */
import type { SqlDriver } from "./sql/driver.js";
import { createSqlStore, type SqlStoreOptions as Options } from "./sql/create-sql-store.js";
import type { TableName } from "./sql/sql.js";
import type { RateLimitStore } from "./store.js";

/** The options that all SQL stores share. */
export interface SqlStoreOptions {
  /** The table's name, as in the package's migrations. @default "RateLimit" */
  table?: string | undefined;
  /** The schema of the table. On MySQL, the database of the table. @default the connection's own */
  schema?: string | undefined;
  /**
   * The name of the table of overrides, in the same schema. Only a limiter with `overrides` uses it.
   * @default that of the table with "Override" after it, or "_override" if it has no capitals
   */
  overridesTable?: string | undefined;
  /**
   * `"serializable"` decides every call in a Serializable transaction, which is retried on conflicts.
   * Without this option, guarded writes make calls just as exact, and much faster.
   * @default guarded writes
   */
  isolation?: Options["isolation"];
}

/**
 * A store on a driver. One store per driver and process: calls that share a store share their
 * round trips.
 *
 * @param driver runs the statements of the store and the application's transactions. `using` takes the
 * driver's type of a transaction.
 * @throws RateLimitConfigError when `isolation` is neither `"serializable"` nor left out, or the
 * driver's `dialect` is not known.
 *
 * @example
 * import { type SqlDriver, sqlStore } from "trpc-rate-limit/server";
 *
 * declare const driver: SqlDriver<MyTransaction>; // runs statements by a client of your own
 * const store = sqlStore(driver, { isolation: "serializable" });
 */
export function sqlStore<TTransaction>(
  driver: SqlDriver<TTransaction>,
  options: SqlStoreOptions = {},
): RateLimitStore<TTransaction> {
  return createSqlStore(driver, { table: tableOf(options), isolation: options.isolation });
}

/** The tables that the options of a SQL store name. */
export function tableOf({
  table: name = "RateLimit",
  schema,
  overridesTable,
}: Omit<SqlStoreOptions, "isolation">): TableName {
  const overrides = overridesTable === undefined ? undefined : { name: overridesTable, schema };
  return { name, schema, overrides };
}
