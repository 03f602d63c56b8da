/**
 * Limits in the application's own database, through its own Drizzle database: one row and two
 * numbers per limit and key, in a table that the application migrates with the rest of its schema.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import { createD1Store, isD1 } from "../store/drivers/d1.js";
import { pgDriver } from "../store/drivers/pg/pg-driver.js";
import { listenToClients } from "../store/drivers/pools/lending.js";
import { listenToPool } from "../store/drivers/pools/pool-errors.js";
import type {
  LibsqlClientLike,
  SqliteDatabaseLike,
} from "../store/drivers/sqlite/sqlite-clients.js";
import { libsqlDriver } from "../store/drivers/sqlite/sqlite-libsql.js";
import type { PgPoolLike } from "../store/drivers/pg/pg-client.js";
import type { RateLimitStore } from "../store/store.js";
import { createSqlStore } from "../store/sql/create-sql-store.js";
import { LIMITS, OVERRIDES, type TableShape } from "../store/sql/table/catalog.js";
import type { SqlDriver, SqlRow } from "../store/sql/driver.js";
import type { TableName } from "../store/sql/sql.js";
import type { SqlStoreOptions } from "../store/sql-store.js";
import { type AnyDrizzle, drizzleDriver } from "./drizzle-driver.js";
import { type DrizzleParts, drizzleParts, type PostgresJsClient } from "./drizzle-parts.js";
import { type DrizzleTableLike, tablePartsOf } from "./drizzle-symbols.js";
import { synchronousStore } from "./drizzle-synchronous.js";

/** Any Drizzle database: what `drizzle()` returns. */
export interface DrizzleLike {
  /** Loosely typed, because the type of each database's method names the tables of that database. */
  transaction(...args: never[]): unknown;
}

/** The argument of the callback of a database's `transaction`. */
export type DrizzleTransactionOf<TDatabase extends DrizzleLike> = TDatabase["transaction"] extends (
  run: infer TRun,
  ...rest: never[]
) => unknown
  ? TRun extends (tx: infer TTransaction) => unknown
    ? TTransaction
    : never
  : never;

export interface DrizzleStoreOptions extends Pick<SqlStoreOptions, "isolation"> {
  /**
   * The Drizzle table, or the name of a table. The store uses the name and the schema of a Drizzle table.
   * @default "RateLimit"
   */
  table?: string | DrizzleTableLike | undefined;
  /**
   * The Drizzle table of overrides, or its name. Only a limiter with `overrides` uses this table.
   * @default the name of the table with "Override" after it, or "_override" if the name has no capitals
   */
  overridesTable?: string | DrizzleTableLike | undefined;
  /**
   * The schema of a table that is given by its name. On MySQL, the database of the table.
   * @default the connection's own
   */
  schema?: string | undefined;
  /**
   * On PostgreSQL through node-postgres or postgres-js: whether the store's own statements are prepared
   * once per connection. Set `false` behind a pooler that does not support prepared statements, such as
   * PgBouncer before 1.21 in transaction mode.
   * @default true
   */
  prepare?: boolean | undefined;
}

/**
 * A store on a Drizzle database. One store per database and process: calls that share a store share
 * their round trips. `transaction` and `using` take Drizzle's own transactions.
 *
 * On node-postgres, postgres-js and bun-sql, single decisions go to `db.$client`, as prepared statements,
 * and not through Drizzle. On `better-sqlite3`, `node-sqlite`, `bun-sqlite` and `d1`, all decisions go to
 * `db.$client`, and `transaction` and `using` reject: Drizzle's transactions are synchronous, or, on D1,
 * do not exist.
 *
 * @throws RateLimitConfigError when the driver cannot work (the message says which driver can), when
 * `table` lacks a column, when `isolation` is not valid, or when `isolation` needs transactions that the
 * driver does not have.
 *
 * @example
 * import { drizzle } from "drizzle-orm/node-postgres";
 * import { drizzleStore } from "trpc-rate-limit/drizzle";
 *
 * const store = drizzleStore(drizzle(process.env.DATABASE_URL!));
 */
export function drizzleStore<TDatabase extends DrizzleLike>(
  db: TDatabase,
  {
    table = "RateLimit",
    overridesTable,
    schema,
    isolation,
    prepare = true,
  }: DrizzleStoreOptions = {},
): RateLimitStore<DrizzleTransactionOf<TDatabase>> {
  const parts = drizzleParts(db);
  const name = typeof table === "string" ? { name: table, schema } : tableNameOf(table, LIMITS);
  const overrides =
    typeof overridesTable === "string"
      ? { name: overridesTable, schema: name.schema }
      : overridesTable && tableNameOf(overridesTable, OVERRIDES);
  const sqlOptions = { table: { ...name, madeBy: "Drizzle" as const, overrides }, isolation };
  if (parts.isSynchronous) {
    return synchronousStore(
      parts.client as SqliteDatabaseLike,
      sqlOptions,
    ) as RateLimitStore<never>;
  }
  if (isD1(parts.client)) {
    return createD1Store(parts.client, sqlOptions.table, isolation);
  }
  if (isolation === "serializable" && !parts.hasTransactions) {
    const message = `${parts.session} of drizzle-orm has no transactions, so leave isolation out`;
    throw new RateLimitConfigError("isolation", isolation, { message });
  }
  const driver = drizzleDriver(db as unknown as AnyDrizzle, parts);
  const store = createSqlStore(driver, sqlOptions, singleDriver(driver, parts, prepare));
  return store as RateLimitStore<never>;
}

/** The driver of the store's own statements. */
function singleDriver(
  driver: SqlDriver<object>,
  { session, client }: DrizzleParts,
  prepare: boolean,
): SqlDriver | undefined {
  if (session === "NodePgSession") return pgDriver(client as PgPoolLike, { prepare });
  // `libsqlDriver` avoids connections on which libsql would lose writes.
  if (session === "LibSQLSession") return libsqlDriver(client as LibsqlClientLike);
  // The pools of Neon and Vercel extend the pool of `pg`.
  if ("totalCount" in client) {
    listenToClients(client);
    return { ...(driver as SqlDriver), onPoolError: listenToPool(client) };
  }
  if (session !== "PostgresJsSession") return driver;
  const { unsafe } = client as PostgresJsClient;
  return {
    ...(driver as SqlDriver),
    query: async (text, params) => [...(await unsafe(text, [...params], { prepare }))] as SqlRow[],
    execute: async (text, params) => (await unsafe(text, [...params], { prepare })).count ?? 0,
  };
}

function tableNameOf(table: DrizzleTableLike, { columns: wanted }: TableShape): TableName {
  const parts = tablePartsOf(table);
  if (parts === undefined) {
    throw new RateLimitConfigError("table", table, "a Drizzle table, or the name of a table");
  }
  const { name, schema, columns } = parts;
  const missing = wanted.filter((column) => !columns.has(column));
  if (missing.length > 0) {
    const message = `table "${name}" must have the columns ${wanted.join(", ")}; it lacks ${missing.join(", ")}`;
    throw new RateLimitConfigError("table", table, { message });
  }
  return { name, schema };
}
