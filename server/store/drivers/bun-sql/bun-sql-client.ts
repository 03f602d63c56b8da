/**
 * The parts of Bun's SQL client that a store needs. They are structural types, so the package works
 * with the client of the application, and still runs where there is no Bun.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";

/** The answer to a statement: the rows, and how many of them were written. */
export interface BunSqlResult {
  /** The number of rows that were returned; if none were, the number of rows that were written. */
  readonly count: number;
  /** How many rows were written. */
  readonly affectedRows: number;
}

/** The executor of statements: the client, a connection of `reserve`, or a transaction of `begin`. */
export interface BunSqlExecutor {
  /** Runs one statement. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the type that Bun declares
  unsafe(text: string, params?: any[]): Promise<any>;
}

/** A connection of `sql.reserve()`. */
export interface BunSqlReserved extends BunSqlExecutor {
  /** Gives the connection back to the pool. */
  release(): Promise<void>;
  /** Closes the connection. */
  close(options?: { timeout?: number }): Promise<void>;
  /** Runs a function in a transaction on this connection. */
  begin(options: string, run: never): Promise<unknown>;
}

/** A client of Bun for PostgreSQL, MySQL or MariaDB: `Bun.sql`, or a `new SQL()`. */
export interface BunSqlLike extends BunSqlExecutor {
  /** The settings of the client. */
  readonly options: object;
  /** Takes a connection out of the pool. */
  reserve(): Promise<BunSqlReserved>;
  /** Runs a function in a transaction, on a connection of its own. */
  begin(options: string, run: never): Promise<unknown>;
}

/** The transaction that the client's `begin` passes to its function. */
export type BunSqlTransactionOf<TSql extends BunSqlLike> = TSql["begin"] extends (
  options: string,
  run: infer TRun,
) => unknown
  ? TRun extends (tx: infer TTransaction) => unknown
    ? TTransaction & BunSqlExecutor
    : never
  : never;

/** The settings that matter to a store. */
export interface BunSqlOptions {
  adapter?: string;
  max?: number;
  foundRows?: boolean;
  transform?: Renames | { column?: Renames | { from?: Renames } };
}

type Renames = (name: string) => string;

/** `postgres` (postgres.js) returns a function with the methods of Bun's client, and some more. */
export function isPostgresJs(client: unknown): boolean {
  return typeof client === "function" && "PostgresError" in client && "unsafe" in client;
}

/** Bun's client is a function, most other clients are objects. */
export function isBunSql(client: unknown): client is BunSqlLike {
  if (typeof client !== "function" || isPostgresJs(client)) return false;
  const { unsafe, reserve, options } = client as Partial<BunSqlLike>;
  return typeof unsafe === "function" && typeof reserve === "function" && options !== undefined;
}

const DIALECTS: Record<string, "postgresql" | "mysql" | undefined> = {
  postgres: "postgresql",
  mysql: "mysql",
  mariadb: "mysql",
};

const STORES: Record<string, string> = {
  postgres: "pgStore(sql)",
  mysql: "mysqlStore(sql)",
  mariadb: "mysqlStore(sql)",
  sqlite:
    "sqliteStore(db) with a Database of bun:sqlite, because this client has one connection for " +
    "all, and would run the calls of other requests inside any open transaction",
};

const COLUMNS = ["name", "key", "shard", "used", "ts", "clock", "hasKey"];

/**
 * @throws RateLimitConfigError when the client is for another database, or its settings change what
 * statements return.
 */
export function checkBunSql(sql: BunSqlLike, dialect: "postgresql" | "mysql"): void {
  const { adapter = "postgres", foundRows, transform } = sql.options as BunSqlOptions;
  const refuse = (message: string) => new RateLimitConfigError("pool", sql, { message });
  if (DIALECTS[adapter] !== dialect) {
    const store = STORES[adapter] ?? "a client that this package knows";
    throw refuse(`this client of Bun is for ${adapter}: use ${store}`);
  }
  if (dialect === "mysql" && foundRows !== true) {
    throw refuse(
      "the client must count the rows that an UPDATE has found: use " +
        "new SQL(url, { foundRows: true }), or add ?foundRows=true to the URL",
    );
  }
  const rename = renameOf(transform);
  const renamed = COLUMNS.find((name) => rename(name) !== name);
  if (renamed !== undefined) {
    throw refuse(
      `the client's option transform renames the column "${renamed}" of results: give the store a ` +
        "new SQL() without it",
    );
  }
}

/** How the client renames the columns of results. */
function renameOf(transform: BunSqlOptions["transform"]): Renames {
  const same: Renames = (name) => name;
  const { column } = Object(transform) as { column?: Renames | { from?: Renames } };
  if (typeof column === "function") return column;
  return column?.from ?? same;
}
