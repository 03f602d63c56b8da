/**
 * MySQL and MariaDB through `mysql2` or `mariadb`, without an ORM, on the application's own pool. A
 * client of Bun has a driver of its own.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlConnection, SqlDriver, SqlRow, TransactionDriver } from "../../sql/driver.js";
import { sqlStore, type SqlStoreOptions } from "../../sql-store.js";
import type { RateLimitStore } from "../../store.js";
import { bunSqlDriver } from "../bun-sql/bun-sql-driver.js";
import {
  type BunSqlLike,
  type BunSqlTransactionOf,
  checkBunSql,
  isBunSql,
} from "../bun-sql/bun-sql-client.js";
import { checkMysqlPool } from "../pools/check-pool.js";
import type {
  ConnectionInternals,
  MysqlCallbackPoolLike,
  MysqlConnectionLike,
  MysqlConnectionOf,
  MysqlPoolLike,
  MysqlQuery,
  MysqlQueryable,
} from "./mysql-client.js";
import { createMysqlConnections } from "./mysql-connections.js";
import { createMysqlTransactions } from "./mysql-transactions.js";
import { ReadOnlyConnections } from "../pools/read-only-connections.js";

/** How statements are sent through `mysql2` or `mariadb`. */
export interface MysqlDriverOptions {
  /**
   * Whether statements are prepared once per connection. Turn it off behind a proxy that does not
   * support prepared statements, or that keeps a connection for each client because of them. Then
   * the driver escapes values inside the text. Sessions with `NO_BACKSLASH_ESCAPES` are rejected,
   * because `mysql2` escapes by backslashes all the same.
   * @default true
   */
  prepare?: boolean;
}

/** The options of `mysqlStore`. */
export interface MysqlStoreOptions extends MysqlDriverOptions, SqlStoreOptions {}

/** What `using` and `transaction` of a store on this client take. */
export type MysqlTransactionOf<TClient> = TClient extends BunSqlLike
  ? BunSqlTransactionOf<TClient>
  : TClient extends MysqlPoolLike | MysqlCallbackPoolLike
    ? MysqlConnectionOf<TClient>
    : never;

/**
 * A store on a pool of `mysql2`, with or without promises, on one of `mariadb`, or on Bun's client
 * (`new SQL(url, { foundRows: true })`). One store per pool and process: calls that share a store
 * share their round trips. `using` takes a connection of the pool that has begun a transaction. In Bun
 * it takes what `sql.begin` passes to its function. The connections need the character set `utf8mb4`,
 * which is the default of all of them.
 *
 * @throws RateLimitConfigError when `pool` is no pool (the message says what to use instead), or `isolation` is given and is not
 * `"serializable"`, or a client of Bun is for another database, renames columns, lacks `foundRows`, or
 * is given with `prepare: false`.
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

/** @throws RateLimitConfigError when it is no pool. */
export function promisePool(pool: MysqlPoolLike | MysqlCallbackPoolLike): MysqlPoolLike {
  const { promise } = Object(pool) as Partial<MysqlCallbackPoolLike>;
  const found = typeof promise === "function" ? promise.call(pool) : pool;
  checkMysqlPool(found);
  return found as MysqlPoolLike;
}

export function mysqlDriver(
  pool: MysqlPoolLike,
  { prepare = true }: MysqlDriverOptions = {},
): TransactionDriver<MysqlConnectionLike> {
  const connections = createMysqlConnections(pool);
  const readOnly = new ReadOnlyConnections();
  const run = prepare ? executePrepared : createTextRunner();
  return {
    dialect: "mysql",
    ...connectionOf((query, isWanted) =>
      connections.runAlone((connection) => run(connection, query), isWanted),
    ),
    within: (tx) => connectionOf((query) => readOnly.noting(tx, run(withPromises(tx), query))),
    isExhausted: () => connections.isExhausted(),
    transaction: createMysqlTransactions(connections, readOnly),
  };
}

type Run = (connection: MysqlQueryable, query: MysqlQuery) => Promise<unknown>;

const executePrepared: Run = (connection, query) => connection.execute(query);

const UNSAFE =
  "the session has the SQL mode NO_BACKSLASH_ESCAPES, under which values in the text of a " +
  "statement are not safe; leave out `prepare: false`, or the mode";

/** Asks for the SQL mode before the first statement of each store. */
function createTextRunner(): Run {
  let isSafe = false;
  return async (connection, query) => {
    if (!isSafe) {
      const answer = await connection.query({ sql: "SELECT @@sql_mode AS mode", ...OPTIONS });
      if (String(rowsOf(answer)[0]?.["mode"]).includes("NO_BACKSLASH_ESCAPES")) {
        throw new Error(UNSAFE);
      }
      isSafe = true;
    }
    return connection.query({ ...query, ...TEXT_OPTIONS });
  };
}

/** The application may pass the connection of a `mysql2` without promises, in spite of its type. */
function withPromises(connection: MysqlQueryable): MysqlQueryable {
  return (connection as ConnectionInternals).promise?.() ?? connection;
}

/** A pool can have its own `typeCast`. Only a function replaces it. */
const typeCast = (_field: Field, next: () => unknown) => next();

interface Field {
  type: string;
  string(): string | null;
}

/** In text, `mysql2` reads some doubles one bit off. */
function typeCastText(field: Field, next: () => unknown): unknown {
  if (field.type !== "DOUBLE") return next();
  const text = field.string();
  return text === null ? null : Number(text);
}

/** Options of a pool that would change results. Each driver ignores those of the other. */
const OPTIONS = {
  rowsAsArray: false,
  metaAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  typeCast,
  // `mariadb` puts parameters into the messages of errors.
  logParam: false,
};

const TEXT_OPTIONS = { typeCast: typeCastText };

function connectionOf(
  run: (query: MysqlQuery, isWanted?: () => boolean) => Promise<unknown>,
): SqlConnection {
  const queryOf = (sql: string, params: readonly unknown[]): MysqlQuery => ({
    sql,
    values: params as unknown[],
    ...OPTIONS,
  });
  return {
    query: async (text, params, isWanted) => rowsOf(await run(queryOf(text, params), isWanted)),
    execute: async (text, params, isWanted) =>
      affectedRows(await run(queryOf(text, params), isWanted)),
  };
}

/** `mysql2` resolves with the rows and the fields, `mariadb` with the rows. */
function rowsOf(answer: unknown): SqlRow[] {
  const rows = answer as SqlRow[] | [SqlRow[], unknown];
  return Array.isArray(rows[0]) ? rows[0] : (rows as SqlRow[]);
}

/** `mysql2` resolves with a header and `undefined`, `mariadb` with the header. */
function affectedRows(answer: unknown): number {
  const header: unknown = Array.isArray(answer) ? answer[0] : answer;
  return Number((header as { affectedRows: unknown }).affectedRows);
}
