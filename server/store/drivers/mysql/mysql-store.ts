/** MySQL and MariaDB without an ORM, through `mysql2`, `mariadb` or Bun's own client. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlDriver } from "../../sql/driver.js";
import { sqlStore, type SqlStoreOptions } from "../../sql-store.js";
import type { RateLimitStore } from "../../store.js";
import { bunSqlDriver } from "../bun-sql/bun-sql-driver.js";
import {
  type BunSqlLike,
  type BunSqlTransactionOf,
  checkBunSql,
  isBunSql,
} from "../bun-sql/bun-sql-client.js";
import type { MysqlCallbackPoolLike, MysqlConnectionOf, MysqlPoolLike } from "./mysql-client.js";
import { promisePool } from "./mysql-connections.js";
import { mysqlDriver, type MysqlDriverOptions } from "./mysql-driver.js";

/** The options of `mysqlStore`. */
export interface MysqlStoreOptions extends MysqlDriverOptions, SqlStoreOptions {}

/** The transactions that `using` and `transaction` of a store on this client take. */
export type MysqlTransactionOf<TClient> = TClient extends BunSqlLike
  ? BunSqlTransactionOf<TClient>
  : TClient extends MysqlPoolLike | MysqlCallbackPoolLike
    ? MysqlConnectionOf<TClient>
    : never;

/**
 * A store on a pool of `mysql2`, with or without promises, on a pool of `mariadb`, or on Bun's client
 * (`new SQL(url, { foundRows: true })`). One store per pool and process: calls that share a store share
 * their round trips. `using` takes a connection of the pool that has begun a transaction. In Bun,
 * `using` takes what `sql.begin` passes to its function. The connections need the character set
 * `utf8mb4`, which is the default of all these clients.
 *
 * @throws RateLimitConfigError when `pool` is no pool (the message says what to use instead), or
 * `isolation` is given and is not `"serializable"`, or a client of Bun is for another database, renames
 * columns, lacks `foundRows`, or is given with `prepare: false`.
 *
 * @example
 * import { createPool } from "mysql2/promise";
 * import { mysqlStore } from "trpc-rate-limit/server";
 *
 * const store = mysqlStore(createPool(process.env.DATABASE_URL!));
 */
export function mysqlStore<TPool extends MysqlPoolLike | MysqlCallbackPoolLike | BunSqlLike>(
  pool: TPool,
  options: MysqlStoreOptions = {},
): RateLimitStore<MysqlTransactionOf<TPool>> {
  return sqlStore(driverOf(pool, options), options);
}

function driverOf(
  pool: MysqlPoolLike | MysqlCallbackPoolLike | BunSqlLike,
  options: MysqlDriverOptions,
): SqlDriver<never> {
  if (!isBunSql(pool)) {
    return mysqlDriver(promisePool(pool), options) as SqlDriver<never>;
  }
  checkBunSql(pool, "mysql");
  if (options.prepare === false) {
    const message = "a client of Bun prepares all statements on MySQL: leave prepare out";
    throw new RateLimitConfigError("prepare", false, { message });
  }
  return bunSqlDriver(pool, "mysql") as SqlDriver<never>;
}
