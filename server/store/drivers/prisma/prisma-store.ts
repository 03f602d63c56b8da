/**
 * Limits in the application's own database, through its own Prisma client: one row and two numbers
 * per limit and key, in a table that the application migrates with the rest of its schema.
 */
import { MAX_TIMEOUT } from "../../../../core/durations.js";
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { DialectName, SqlConnection, SqlDriver, SqlRow } from "../../sql/driver.js";
import { quotedTable, type TableName } from "../../sql/sql.js";
import { createSqlStore } from "../../sql/create-sql-store.js";
import type { RateLimitStore } from "../../store.js";
import { isD1Busy, withoutTransactions } from "../d1.js";
import { promisePool } from "../mysql/mysql-connections.js";
import { mysqlDriver } from "../mysql/mysql-driver.js";
import type { MysqlCallbackPoolLike, MysqlPoolLike } from "../mysql/mysql-client.js";
import { pgDriver, type PgDriverOptions } from "../pg/pg-driver.js";
import type { PgPoolLike } from "../pg/pg-client.js";
import { committing, isBefore7, mayCommitTwice, prisma6Connection } from "./prisma-6.js";
import { isPrisma8, prisma8Driver, prisma8Tables } from "./prisma-8.js";
import type { Prisma8Like, Prisma8TransactionOf } from "./prisma-8-client.js";
import { committingAlone, isBetterSqlite3 } from "./prisma-better-sqlite3.js";
import { isLibsql, leavingBusy } from "./prisma-libsql.js";
import { libsqlTransaction } from "./prisma-libsql-transactions.js";
import { poolOf, throughPoolOf } from "./prisma-pool.js";
import type { ClientInternals, PrismaLike, PrismaRaw, TransactionOf } from "./prisma-client.js";

/** The options of `prismaStore`. */
export interface PrismaStoreOptions {
  /**
   * The name of the model in the Prisma schema; `@@map` and `@@schema` on it are
   * followed, and so is the option `schema` of the adapter.
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
   * retried. Decisions are exact without it too. Use it where a policy or an audit requires it. It
   * costs throughput.
   * @default guarded statements at the database's own level
   */
  isolation?: "serializable" | undefined;
  /**
   * A pool of the application on the same database: a `pg.Pool` on PostgreSQL, a pool of `mysql2` or
   * `mariadb` on MySQL and MariaDB. The single decisions of the limiter go through it, as prepared
   * statements: on PostgreSQL in 0.6 of the time that they take through Prisma, on MariaDB with half
   * of the CPU time of this process. `transaction` and `using` still go through Prisma. `false`:
   * everything goes through Prisma.
   * @default the `pg.Pool` of the adapter, if it was made as `new PrismaPg(pool)` and no extension of
   * the client hooks into raw queries; otherwise `false`
   */
  pool?: PgPoolLike | MysqlPoolLike | MysqlCallbackPoolLike | false;
  /**
   * Whether statements are prepared, once per connection of the pool. Turn it off behind a pooler
   * that does not support prepared statements, such as PgBouncer before 1.21 in transaction mode.
   * Without a pool, it does nothing.
   * @default true with the option `pool`; with the pool of the adapter, on connections that go to
   * PostgreSQL itself
   */
  prepare?: boolean;
}

const DIALECTS = new Map<string | undefined, DialectName>([
  ["sqlite", "sqlite"],
  ["postgresql", "postgresql"],
  ["cockroachdb", "postgresql"],
  ["mysql", "mysql"],
]);

/** Adapters for D1. Their transactions run as single statements, without a word. */
const D1 = new Set<unknown>(["@prisma/adapter-d1", "@prisma/adapter-d1-http"]);

/**
 * A store on the given client of Prisma 6, 7 or 8. One store per client and process: calls that
 * share a store share their round trips.
 *
 * @throws RateLimitConfigError when the client's provider is not supported, or has no such model,
 * or when `pool` is no pool for the provider.
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
  const { driver, table, provider } = isPrisma8(prisma)
    ? {
        driver: prisma8Driver(prisma),
        table: prisma8Tables(prisma, model, overridesModel),
        provider: prisma.contract.target,
      }
    : openPrisma(prisma, model, overridesModel);
  const how = prepare === undefined ? {} : { prepare };
  const found = pool === undefined && !isPrisma8(prisma) ? poolOf(prisma) : undefined;
  const single = pool
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

function isD1Client(prisma: object): boolean {
  const { _engineConfig: config } = prisma as ClientInternals;
  return D1.has(config?.adapter?.adapterName);
}

/** A client of Prisma 6 or 7. */
function openPrisma<TClient extends PrismaLike>(
  prisma: TClient,
  model: string,
  overridesModel: string,
) {
  const internals = prisma as ClientInternals;
  const { _activeProvider: provider, _runtimeDataModel: schema } = internals;
  const dialect = DIALECTS.get(provider);
  if (dialect === undefined) {
    const known = [...DIALECTS.keys()].join(", ");
    if (typeof provider !== "string") {
      const message =
        "prismaStore() got an object without a Prisma provider, such as a mock of the client; give " +
        "it the generated client. In tests with a mock, use memoryStore(), and import the limits " +
        "from a file that makes no store";
      throw new RateLimitConfigError("the Prisma client", prisma, { message });
    }
    throw new RateLimitConfigError("the Prisma client's provider", provider, `one of ${known}`);
  }
  const models = schema?.models;
  if (models !== undefined && !Object.hasOwn(models, model)) {
    throw new RateLimitConfigError(
      "model",
      model,
      `one of the Prisma schema's models (${Object.keys(models).join(", ")})`,
    );
  }
  const named = (name: string) => ({
    name: models?.[name]?.dbName ?? name,
    schema: models?.[name]?.schema ?? schemaOfAdapter(internals),
  });
  const table: TableName = { ...named(model), overrides: named(overridesModel) };
  return { driver: prismaDriver(prisma, dialect, table), table, provider };
}

/** The schema that the models without an `@@schema` are in; the `search_path` does not change it. */
function schemaOfAdapter({ _engineConfig: config }: ClientInternals): string | undefined {
  const schema = config?.adapter?.options?.schema;
  return typeof schema === "string" ? schema : undefined;
}

function prismaDriver<TClient extends PrismaLike>(
  prisma: TClient,
  dialect: DialectName,
  table: TableName,
): SqlDriver<TransactionOf<TClient>> {
  const internals = prisma as ClientInternals;
  const { _engineConfig: config, _clientVersion: version, _activeProvider: provider } = internals;
  const adapterName = config?.adapter?.adapterName;
  const isOld = isBefore7(version);
  const connect = isOld ? (client: PrismaRaw) => prisma6Connection(client, dialect) : connectionOf;
  const driver: SqlDriver<TransactionOf<TClient>> = {
    dialect,
    transactionDefaults: config?.transactionOptions,
    ...(isBetterSqlite3(adapterName)
      ? committingAlone(connect(prisma), prisma.$transaction.bind(prisma) as never, connect)
      : leavingBusy(connect(prisma), prisma)),
    within: (tx) => connect(tx as PrismaRaw),
    transaction(run, { isolationLevel, timeout, maxWait }) {
      const transact = prisma.$transaction as (
        body: typeof run,
        options: object,
      ) => ReturnType<typeof run>;
      const options = {
        isolationLevel,
        // Prisma's own timers end at once after a longer time.
        ...(timeout !== undefined && { timeout: Math.min(timeout, MAX_TIMEOUT) }),
        ...(maxWait !== undefined && { maxWait: Math.min(maxWait, MAX_TIMEOUT) }),
      };
      const within = (body: typeof run) => transact.call(prisma, body, options);
      if (isLibsql(adapterName)) return libsqlTransaction(within, run, quotedTable(table));
      return within(isOld && mayCommitTwice(provider) ? committing(run) : run);
    },
  };
  if (!isD1Client(prisma)) return driver;
  const { transaction: _ignored, ...single } = driver;
  return { ...single, isConflict: isD1Busy };
}

function connectionOf(client: PrismaRaw): SqlConnection {
  return {
    query: async (text, params) => (await client.$queryRawUnsafe(text, ...params)) as SqlRow[],
    execute: async (text, params) => client.$executeRawUnsafe(text, ...params),
  };
}
