/**
 * Limits in the application's own database, through its own Kysely instance: one row and two
 * numbers per limit and key, in a table that the application migrates with the rest of its schema.
 */
import type { Generated, Kysely } from "kysely";
import { RateLimitConfigError } from "../../core/errors.js";
import { pgDriver } from "../store/drivers/pg/pg-driver.js";
import type { PgPoolLike } from "../store/drivers/pg/pg-client.js";
import { createSqlStore } from "../store/sql/create-sql-store.js";
import type { DialectName } from "../store/sql/driver.js";
import { type SqlStoreOptions, tableOf } from "../store/sql-store.js";
import type { RateLimitStore } from "../store/store.js";
import { kyselyDriver } from "./kysely-driver.js";

/**
 * Any Kysely instance, by structure. The class is not named: CommonJS code and ES modules get different
 * copies of the class, and TypeScript takes the two copies for different classes.
 */
export interface KyselyLike {
  /** Whether the instance is a transaction. */
  readonly isTransaction: boolean;
  /** Loosely typed, because the type of each instance's method names the tables of that instance. */
  transaction(): { execute(...args: never[]): unknown };
}

/** An instance with any tables. */
type UntypedKysely = Kysely<Record<string, Record<string, unknown>>>;

/** The transactions of a Kysely instance. */
export type KyselyTransactionOf<TKysely extends KyselyLike> =
  ReturnType<TKysely["transaction"]> extends { execute(run: infer TRun): unknown }
    ? TRun extends (tx: infer TTransaction) => unknown
      ? TTransaction
      : never
    : never;

/** The columns of the table, for the application's own `Database` interface. */
export interface RateLimitTable {
  /** The limit. */
  name: string;
  /** The key of the bucket; `""` for the shared bucket. */
  key: Generated<string>;
  /** The index of the shard, from 0. */
  shard: Generated<number>;
  /** Tokens taken and not yet refilled; negative while tokens are owed beyond the capacity. */
  used: number;
  /** When `used` was true, epoch ms. */
  ts: number;
}

/** The columns of the table of overrides, for the application's own `Database` interface. */
export interface RateLimitOverrideTable {
  /** The limit. */
  name: string;
  /** The key that the override is about; `""` for all keys. */
  key: Generated<string>;
  /** The rule that counts instead of the limit's config, as JSON. */
  rule: string;
  /** When the override ends, epoch ms; 8e15 for never. */
  until: number;
  /** When the override was set, epoch ms. */
  setAt: number;
}

/** The options of `kyselyStore`. */
export interface KyselyStoreOptions extends SqlStoreOptions {
  /**
   * The SQL dialect of the database. Needed where the Kysely dialect writes names and parameters unlike
   * Kysely's own dialects.
   * @default the SQL dialect of the Kysely dialect: PostgreSQL, MySQL or SQLite
   */
  dialect?: DialectName | undefined;
  /**
   * The `pg.Pool` of the Kysely dialect, which Kysely hides. The store listens to the pool's errors,
   * which could end the process. The store also sends single decisions to the pool, as prepared
   * statements. `transaction` and `using` still go through Kysely.
   * @default everything goes through the Kysely instance
   */
  pool?: PgPoolLike | undefined;
  /**
   * With a `pool`: whether the store's own statements are prepared once per connection. Set `false`
   * behind a pooler that does not support prepared statements, such as PgBouncer before 1.21 in
   * transaction mode.
   * @default true
   */
  prepare?: boolean | undefined;
}

/**
 * A store on a Kysely instance. One store per instance and process: calls that share a store share
 * their round trips. `transaction` and `using` take Kysely's own transactions. Plugins do not see
 * the store's statements.
 *
 * @throws RateLimitConfigError when the dialect is not known, `db` is a transaction, `isolation` is
 * not valid, or there is a `pool` and the dialect is not PostgreSQL.
 *
 * @example
 * import { Kysely, PostgresDialect } from "kysely";
 * import pg from "pg";
 * import { kyselyStore, type RateLimitTable } from "trpc-rate-limit/kysely";
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const dialect = new PostgresDialect({ pool });
 * const db = new Kysely<{ RateLimit: RateLimitTable }>({ dialect });
 * const store = kyselyStore(db);
 */
export function kyselyStore<TKysely extends KyselyLike>(
  db: TKysely,
  options: KyselyStoreOptions = {},
): RateLimitStore<KyselyTransactionOf<TKysely>> {
  const kysely = db as unknown as UntypedKysely;
  const { dialect = dialectOf(kysely), isolation, pool, prepare = true, ...tables } = options;
  if (db.isTransaction) {
    const message = "kyselyStore takes the Kysely instance itself; pass a transaction to using()";
    throw new RateLimitConfigError("db", db, { message });
  }
  if (pool !== undefined && dialect !== "postgresql") {
    throw new RateLimitConfigError("pool", pool, `left out: the dialect is ${dialect}`);
  }
  const store = createSqlStore(
    kyselyDriver(kysely, dialect),
    { table: tableOf(tables), isolation },
    pool && pgDriver(pool, { prepare }),
  );
  return store as RateLimitStore<never>;
}

/** How the dialects of Kysely write a name and a parameter. */
const DIALECTS: Readonly<Record<string, DialectName>> = {
  '"a" = $1': "postgresql",
  "`a` = ?": "mysql",
  '"a" = ?': "sqlite",
};

/**
 * Recognizes the dialect by a statement that it compiles. The class of the dialect does not help: each
 * copy of Kysely has its own classes.
 */
function dialectOf(kysely: UntypedKysely): DialectName {
  const query = kysely.withoutPlugins().selectFrom("t").selectAll().where("a", "=", 1);
  const dialect = DIALECTS[query.compile().sql.split(" where ")[1]!];
  if (dialect !== undefined) return dialect;
  const { adapter } = kysely.getExecutor();
  throw new RateLimitConfigError("the Kysely dialect", adapter, {
    message:
      `kyselyStore does not know the dialect of ${adapter.constructor.name}; ` +
      'give it the option dialect: "postgresql", "mysql" or "sqlite"',
  });
}
