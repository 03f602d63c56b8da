/**
 * Limits in the application's own database, through its own Prisma client: one row and two numbers
 * per limit and key, in a table that the application migrates with the rest of its schema.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { createSqlStore } from "../../sql/create-sql-store.js";
import type { DialectName, SqlDriver } from "../../sql/driver.js";
import type { RateLimitStore } from "../../store.js";
import { withoutTransactions } from "../d1.js";
import type { MysqlCallbackPoolLike, MysqlPoolLike } from "../mysql/mysql-client.js";
import { promisePool } from "../mysql/mysql-connections.js";
import { mysqlDriver } from "../mysql/mysql-driver.js";
import type { PgPoolLike } from "../pg/pg-client.js";
import { pgDriver, type PgDriverOptions } from "../pg/pg-driver.js";
import {
  isPrisma8,
  prisma8Driver,
  type Prisma8Like,
  prisma8Tables,
  type Prisma8TransactionOf,
} from "./prisma-8.js";
import type { PrismaLike, TransactionOf } from "./prisma-client.js";
import { isD1Client, openPrisma } from "./prisma-driver.js";
import { throughOwnPool } from "./prisma-own-pool.js";
import { poolOf, throughPoolOf } from "./prisma-pool.js";

/** The options of `prismaStore`. */
export interface PrismaStoreOptions {
  /**
   * The name of the model in the Prisma schema; `@@map` and `@@schema` on the model are followed, and
   * so is the option `schema` of the adapter.
   * @default "RateLimit"
   */
  model?: string;
  /**
   * The name of the model of overrides. Only a limiter with `overrides` uses it.
   * @default that of the model, with "Override" after it: "RateLimitOverride"
   */
  overridesModel?: string;
  /**
   * `"serializable"`: decisions run in transactions of that level, one per batch, and conflicts are
   * retried. Decisions are exact without this option, too. Use the option where a policy or an audit
   * requires it. The option costs throughput.
   * @default guarded statements at the database's own level
   */
  isolation?: "serializable" | undefined;
  /**
   * A pool of the application on the same database: a `pg.Pool` on PostgreSQL, a pool of `mysql2` or
   * `mariadb` on MySQL and MariaDB. The single decisions of the limiter go through this pool, as
   * prepared statements: on PostgreSQL in 0.6 of the time that they take through Prisma, on MariaDB
   * with half of the CPU time of this process. `transaction` and `using` still go through Prisma.
   * `"own"`: the store opens such a pool itself, of at most four connections, with the settings of the
   * adapter `PrismaPg`. Idle connections are closed and keep no process alive, and `$disconnect` of the
   * client ends the pool.
   * `false`: everything goes through Prisma.
   * @default the `pg.Pool` of the adapter, if it was made as `new PrismaPg(pool)` and no extension of
   * the client hooks into raw queries; otherwise `false`
   */
  pool?: PgPoolLike | MysqlPoolLike | MysqlCallbackPoolLike | "own" | false;
  /**
   * Whether single statements are prepared, once per connection. Turn `prepare` off behind a pooler
   * that does not support prepared statements, such as PgBouncer before 1.21 in transaction mode.
   * Without a pool, the adapter for PostgreSQL from Prisma 7.6 on prepares them: the store gives the
   * adapter the option `statementNameGenerator`, if the adapter has none. The option names the
   * statements of the store and no others.
   * @default true with the option `pool`; with the pool of the adapter, on connections that go to
   * PostgreSQL itself; without a pool, until the database does not find a prepared statement
   */
  prepare?: boolean;
}

/**
 * A store on the given client of Prisma 6, 7 or 8. One store per client and process: calls that
 * share a store share their round trips.
 *
 * @throws RateLimitConfigError when the client's provider is not supported, or has no such model,
 * or when `pool` is no pool for the provider, or is `"own"` and the client has no adapter `PrismaPg`.
 *
 * @example
 * import { prismaStore } from "trpc-rate-limit/server";
 *
 * const store = prismaStore(prisma); // for createRateLimiter({ store, limits })
 */
export function prismaStore<TClient extends PrismaLike>(
  prisma: TClient,
  options?: PrismaStoreOptions,
): RateLimitStore<TransactionOf<TClient>>;
export function prismaStore<TClient extends Prisma8Like>(
  prisma: TClient,
  options?: PrismaStoreOptions,
): RateLimitStore<Prisma8TransactionOf<TClient>>;
export function prismaStore(
  prisma: PrismaLike | Prisma8Like,
  options: PrismaStoreOptions = {},
): RateLimitStore {
  const { model = "RateLimit", isolation, pool, prepare } = options;
  const { overridesModel = `${model}Override` } = options;
  const found = pool === undefined && !isPrisma8(prisma) ? poolOf(prisma) : undefined;
  const isNaming = !pool && found === undefined && prepare !== false;
  const { driver, table, provider } = isPrisma8(prisma)
    ? {
        driver: prisma8Driver(prisma),
        table: prisma8Tables(prisma, model, overridesModel),
        provider: prisma.contract.target,
      }
    : openPrisma(prisma, model, overridesModel, isNaming);
  const how = prepare === undefined ? {} : { prepare };
  const single =
    pool === "own"
      ? throughOwnPool(prisma, driver, how)
      : pool
        ? driverOf(pool, driver.dialect, provider, how)
        : found && throughPoolOf(prisma, found, driver, how);
  const store = createSqlStore(
    driver as SqlDriver,
    { table: { ...table, madeBy: "Prisma" }, isolation, isRemote: isD1Client(prisma) },
    single as SqlDriver | undefined,
  );
  return isD1Client(prisma) ? withoutTransactions(store) : store;
}

function driverOf(
  pool: object,
  dialect: DialectName,
  provider: string | undefined,
  how: PgDriverOptions,
) {
  if (dialect === "mysql") return mysqlDriver(promisePool(pool as MysqlPoolLike), how);
  if (dialect !== "postgresql") {
    throw new RateLimitConfigError("pool", pool, `left out: the provider is ${provider}`);
  }
  if (!("connect" in pool && typeof pool.connect === "function")) {
    throw new RateLimitConfigError("pool", pool, `a pool of pg: the provider is ${provider}`);
  }
  return pgDriver(pool as PgPoolLike, how);
}
