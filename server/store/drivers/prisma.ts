/**
 * Limits in the application's own database, through its own Prisma client: one row and two numbers
 * per limit and key, in a table that the application migrates with the rest of its schema.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { DialectName, SqlConnection, SqlDriver, SqlRow } from "../sql/driver.js";
import type { TableName } from "../sql/sql.js";
import { createSqlStore } from "../sql/create-sql-store.js";
import type { RateLimitStore } from "../store.js";
import { pgDriver, type PgDriverOptions } from "./pg.js";
import type { PgPoolLike } from "./pg-client.js";
import type { ClientInternals, PrismaLike, PrismaRaw, TransactionOf } from "./prisma-client.js";

export interface PrismaStoreOptions extends PgDriverOptions {
  /**
   * The name of the model in the Prisma schema; `@@map` and `@@schema` on it are
   * followed, and so is the option `schema` of the adapter.
   * @default "RateLimit"
   */
  model?: string;
  /**
   * `"serializable"`: decisions run in transactions of that level, one per batch, and conflicts are
   * retried. Decisions are exact without it too. Use it where a policy or an audit requires it. It
   * costs throughput.
   * @default guarded statements at the database's own level
   */
  isolation?: "serializable" | undefined;
  /**
   * The `pg.Pool` of the application's PostgreSQL adapter, or another one on the same database. The
   * single decisions of the limiter go through it, as prepared statements, in half of the time that
   * they take through Prisma. `transaction` and `using` still go through Prisma.
   * @default everything goes through the Prisma client
   */
  pool?: PgPoolLike;
}

const DIALECTS = new Map<string | undefined, DialectName>([
  ["sqlite", "sqlite"],
  ["postgresql", "postgresql"],
  ["cockroachdb", "postgresql"],
  ["mysql", "mysql"],
]);

/** Adapters whose transactions run as single statements, without a word. */
const SINGLE = new Set<unknown>(["@prisma/adapter-d1"]);

/**
 * A store on the given client. One store per client and process: calls that share a store share
 * their round trips.
 *
 * @throws RateLimitConfigError when the client's provider is not supported, or has no such model,
 * or when there is a `pool` and the provider is not PostgreSQL.
 */
export function prismaStore<TClient extends PrismaLike>(
  prisma: TClient,
  options: PrismaStoreOptions = {},
): RateLimitStore<TransactionOf<TClient>> {
  const { model = "RateLimit", isolation, pool, prepare } = options;
  const { _activeProvider: provider, _runtimeDataModel: schema } = prisma as ClientInternals;
  const dialect = DIALECTS.get(provider);
  if (dialect === undefined) {
    const known = [...DIALECTS.keys()].join(", ");
    throw new RateLimitConfigError("the Prisma client's provider", provider, `one of ${known}`);
  }
  if (pool !== undefined && dialect !== "postgresql") {
    throw new RateLimitConfigError("pool", pool, `left out: the provider is ${provider}`);
  }
  const models = schema?.models;
  if (models !== undefined && !Object.hasOwn(models, model)) {
    throw new RateLimitConfigError(
      "model",
      model,
      `one of the Prisma schema's models (${Object.keys(models).join(", ")})`,
    );
  }
  const table: TableName = {
    name: models?.[model]?.dbName ?? model,
    schema: models?.[model]?.schema ?? schemaOfAdapter(prisma as ClientInternals),
  };
  const driver = prismaDriver(prisma, dialect);
  return pool === undefined
    ? createSqlStore(driver, { table, isolation })
    : createSqlStore(
        driver,
        { table, isolation },
        pgDriver(pool, prepare === undefined ? {} : { prepare }),
      );
}

/** The schema that the models without an `@@schema` are in; the `search_path` does not change it. */
function schemaOfAdapter({ _engineConfig: config }: ClientInternals): string | undefined {
  const schema = config?.adapter?.options?.schema;
  return typeof schema === "string" ? schema : undefined;
}

function prismaDriver<TClient extends PrismaLike>(
  prisma: TClient,
  dialect: DialectName,
): SqlDriver<TransactionOf<TClient>> {
  const { _engineConfig: config } = prisma as ClientInternals;
  const driver: SqlDriver<TransactionOf<TClient>> = {
    dialect,
    transactionDefaults: config?.transactionOptions,
    ...connectionOf(prisma),
    within: (tx) => connectionOf(tx as PrismaRaw),
    transaction(run, { isolationLevel, timeout, maxWait }) {
      const transact = prisma.$transaction as (
        body: typeof run,
        options: object,
      ) => ReturnType<typeof run>;
      const options = {
        isolationLevel,
        ...(timeout !== undefined && { timeout }),
        ...(maxWait !== undefined && { maxWait }),
      };
      return transact.call(prisma, run, options);
    },
  };
  if (!SINGLE.has(config?.adapter?.adapterName)) return driver;
  const { transaction: _ignored, ...single } = driver;
  return single;
}

function connectionOf(client: PrismaRaw): SqlConnection {
  return {
    query: async (text, params) => (await client.$queryRawUnsafe(text, ...params)) as SqlRow[],
    execute: async (text, params) => client.$executeRawUnsafe(text, ...params),
  };
}
