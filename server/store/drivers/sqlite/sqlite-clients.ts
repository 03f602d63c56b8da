/**
 * The parts of SQLite's clients that a store needs. They are structural types, so the package
 * imports none, and works with the connection of the application.
 */

/** A prepared statement of `better-sqlite3`, `node:sqlite` or `bun:sqlite`. */
export interface SqliteStatementLike {
  /** Runs the statement, and returns its rows. */
  all(...params: never[]): unknown[];
  /** Runs the statement, and returns the number of rows that it has written. */
  run(...params: never[]): { changes: number | bigint };
}

/** A `Database` of `better-sqlite3` or `bun:sqlite`, or a `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabaseLike {
  /** Prepares one statement. */
  prepare(text: string): SqliteStatementLike;
  /** Runs text without parameters, such as `BEGIN IMMEDIATE`. */
  exec(text: string): unknown;
  /** Closes the connection. */
  close(): unknown;
}

/** The result of a statement of `@libsql/client`. */
export interface LibsqlResult {
  /** The rows, keyed by column. */
  rows: unknown[];
  /** How many rows were written. */
  rowsAffected: number;
}

/** The executor of one statement: a client of `@libsql/client`, or a transaction of it. */
export interface LibsqlExecutor {
  /** Runs one statement. */
  execute(statement: { sql: string; args: never[] }): Promise<LibsqlResult>;
}

/** A transaction of `@libsql/client`. */
export interface LibsqlTransactionLike extends LibsqlExecutor {
  /** Commits the transaction. */
  commit(): Promise<unknown>;
  /** Ends the transaction, and rolls it back if it was not committed. */
  close(): unknown;
}

/** A client of `@libsql/client`. */
export interface LibsqlClientLike extends LibsqlExecutor {
  /** `"file"`, `"http"` or `"ws"`. */
  readonly protocol: string;
  /**
   * Begins a transaction. With `"deferred"`, the transaction takes no lock before its first statement.
   */
  transaction(mode: "write" | "deferred"): Promise<LibsqlTransactionLike>;
  /** Runs several statements in one transaction. */
  batch(statements: { sql: string; args: never[] }[], mode: "write"): Promise<LibsqlResult[]>;
  /** Brings an embedded replica up to date. */
  sync(): Promise<unknown>;
  /** Replaces the connection. Versions up to 0.14 do not have this method. */
  reconnect?(): unknown;
}

/** The client's type of a transaction. On a synchronous client, the transaction is the connection. */
export type SqliteTransactionOf<TClient> = TClient extends {
  transaction(mode: "write"): Promise<infer TTransaction extends LibsqlTransactionLike>;
}
  ? TTransaction
  : TClient;
