/** PostgreSQL without an ORM, through `pg`, Bun's own client, or HTTP. */
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
import { checkPgPool } from "../pools/check-pool.js";
import {
  isPgClient,
  type PgConnectionOf,
  type PgPoolLike,
  type PgSingleClientLike,
} from "./pg-client.js";
import { pgClientDriver, pgDriver, type PgDriverOptions } from "./pg-driver.js";
import { isPgHttp, pgHttpDriver, type PgHttpLike } from "./pg-http.js";

/** The options of `pgStore`. */
export interface PgStoreOptions extends PgDriverOptions, SqlStoreOptions {}

/** The transactions that `using` and `transaction` of a store on this client take. */
export type PgTransactionOf<TClient> = TClient extends BunSqlLike
  ? BunSqlTransactionOf<TClient>
  : PgConnectionOf<TClient>;

/**
 * A store on a pool of `pg`, 8.0.3 or later, or on Bun's client (`Bun.sql`, `new SQL(url)`). One store
 * per pool and process: calls that share a store share their round trips. `using` takes a client of the
 * pool that has begun a transaction. In Bun, `using` takes what `sql.begin` passes to its function.
 *
 * On Cloudflare Workers, where a connection belongs to a request, give the store the `pg.Client` of the
 * request. `transaction` needs a pool: the client is the application's own connection. `using` takes
 * the client after its `BEGIN`. Until the transaction ends, calls without `using` are rejected, from
 * `pg` 8.21 on: a rollback would give their tokens back.
 *
 * Over HTTP, give the store the function that `neon(url)` of `@neondatabase/serverless` returns.
 * `transaction` and `using` are refused then.
 *
 * @param pool a `pg.Pool`, a `pg.Client` that is connected, a client of Bun, or the function of
 * `neon(url)`.
 * @throws RateLimitConfigError when `pool` is none of these (the message says what to use instead), or
 * `isolation` is given and is not `"serializable"`, or a pool is given at the top of a module on
 * Cloudflare Workers, or a client of Bun is for another database, renames columns, or is given with
 * `prepare: false`.
 *
 * @example
 * import pg from "pg";
 * import { pgStore } from "trpc-rate-limit/server";
 *
 * const store = pgStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
 */
export function pgStore<TPool extends PgPoolLike | PgSingleClientLike | PgHttpLike | BunSqlLike>(
  pool: TPool,
  options: PgStoreOptions = {},
): RateLimitStore<PgTransactionOf<TPool>> {
  return sqlStore(driverOf(pool, options), options);
}

function driverOf(
  pool: PgPoolLike | PgSingleClientLike | PgHttpLike | BunSqlLike,
  options: PgDriverOptions,
): SqlDriver<never> {
  if (isBunSql(pool)) {
    checkBunSql(pool, "postgresql");
    if (options.prepare !== false) return bunSqlDriver(pool, "postgresql") as SqlDriver<never>;
    throw new RateLimitConfigError("prepare", false, { message: PREPARE_IN_BUN });
  }
  if (isPgHttp(pool)) return pgHttpDriver(pool);
  if (isPgClient(pool)) return pgClientDriver(pool, options) as SqlDriver<never>;
  checkPgPool(pool);
  return pgDriver(pool, options) as SqlDriver<never>;
}

const PREPARE_IN_BUN =
  "a client of Bun decides about prepared statements itself: leave prepare out, and use " +
  "new SQL(url, { prepare: false })";
