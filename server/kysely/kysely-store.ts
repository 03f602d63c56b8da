/**
 * Limits in the application's own database, through its own Kysely instance: one row and two
 * numbers per limit and key, in a table that the application migrates with the rest of its schema.
 */
import {
  type Generated,
  type Kysely,
  MysqlAdapter,
  PostgresAdapter,
  type QueryExecutorProvider,
  SqliteAdapter,
  type Transaction,
} from "kysely";
import { RateLimitConfigError } from "../../core/errors.js";
import { pgDriver } from "../store/drivers/pg.js";
import type { PgPoolLike } from "../store/drivers/pg-client.js";
import { createSqlStore } from "../store/sql/create-sql-store.js";
import type { DialectName } from "../store/sql/driver.js";
import { type SqlStoreOptions, tableOf } from "../store/sql-store.js";
import type { RateLimitStore } from "../store/store.js";
import { kyselyDriver } from "./kysely-driver.js";

/** The columns of the table, for the application's own `Database` interface. */
export interface RateLimitTable {
  /** The limit. */
  name: string;
  /** The key of the bucket; `""` for the shared bucket. */
  key: Generated<string>;
  /** The index of the shard, from 0. */
  shard: Generated<number>;
  /** Tokens; negative while reservations are outstanding. */
  value: number;
  /** When `value` was true, epoch ms. */
  ts: number;
}

/** The columns of the table of overrides, for the application's own `Database` interface. */
export interface RateLimitOverrideTable {
  /** The limit. */
  name: string;
  /** The key that it is about; `""` for all keys. */
  key: Generated<string>;
  /** What counts instead of the limit's config, as JSON. */
  rule: string;
  /** When it ends, epoch ms; 8e15 for never. */
  until: number;
  /** When it was set, epoch ms. */
  setAt: number;
}

/** The options of `kyselyStore`. */
export interface KyselyStoreOptions extends SqlStoreOptions {
  /**
   * The statements that the database understands, for a Kysely dialect that does not extend one of
   * Kysely's own.
   * @default that of the Kysely dialect: PostgreSQL, MySQL or SQLite
   */
  dialect?: DialectName | undefined;
  /**
   * The `pg.Pool` of the Kysely dialect, which Kysely hides. The store listens to its errors, which
   * could end the process, and sends single decisions to it, as prepared statements. `transaction`
   * and `using` still go through Kysely.
   * @default everything goes through the Kysely instance
   */
  pool?: PgPoolLike | undefined;
  /**
   * With a `pool`: whether the store's own statements are prepared once per connection. Turn it off
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
 */
export function kyselyStore<TDatabase>(
  db: Kysely<TDatabase>,
  { dialect = dialectOf(db), isolation, pool, prepare = true, ...tables }: KyselyStoreOptions = {},
): RateLimitStore<Transaction<TDatabase>> {
  if (db.isTransaction) {
    const message = "kyselyStore takes the Kysely instance itself; pass a transaction to using()";
    throw new RateLimitConfigError("db", db, { message });
  }
  if (pool !== undefined && dialect !== "postgresql") {
    throw new RateLimitConfigError("pool", pool, `left out: the dialect is ${dialect}`);
  }
  return createSqlStore(
    kyselyDriver(db, dialect),
    { table: tableOf(tables), isolation },
    pool && pgDriver(pool, { prepare }),
  );
}

function dialectOf(db: QueryExecutorProvider): DialectName {
  const { adapter } = db.getExecutor();
  if (adapter instanceof PostgresAdapter) return "postgresql";
  if (adapter instanceof MysqlAdapter) return "mysql";
  if (adapter instanceof SqliteAdapter) return "sqlite";
  throw new RateLimitConfigError("the Kysely dialect", adapter, {
    message:
      `kyselyStore does not know the dialect of ${adapter.constructor.name}; ` +
      'give it the option dialect: "postgresql", "mysql" or "sqlite"',
  });
}
