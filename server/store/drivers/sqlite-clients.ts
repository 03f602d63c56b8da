/**
 * The parts of SQLite's clients that a store needs. They are structural types, so the package
 * imports none, and works with the connection of the application.
 */

/** A prepared statement of `better-sqlite3` or `node:sqlite`. */
export interface SqliteStatementLike {
  all(...params: never[]): unknown[];
  run(...params: never[]): { changes: number | bigint };
}

/** A `Database` of `better-sqlite3`, or a `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabaseLike {
  prepare(text: string): SqliteStatementLike;
  exec(text: string): unknown;
  close(): unknown;
}

/** The result of a statement of `@libsql/client`. */
export interface LibsqlResult {
  rows: unknown[];
  rowsAffected: number;
}

/** What runs one statement: a client of `@libsql/client`, or a transaction of it. */
export interface LibsqlExecutor {
  execute(statement: { sql: string; args: never[] }): Promise<LibsqlResult>;
}

/** A transaction of `@libsql/client`. */
export interface LibsqlTransactionLike extends LibsqlExecutor {
  commit(): Promise<unknown>;
  close(): unknown;
}

/** A client of `@libsql/client`. */
export interface LibsqlClientLike extends LibsqlExecutor {
  /** `"file"`, `"http"` or `"ws"`. */
  readonly protocol: string;
  transaction(mode: "write"): Promise<LibsqlTransactionLike>;
  batch(statements: { sql: string; args: never[] }[], mode: "write"): Promise<LibsqlResult[]>;
  sync(): Promise<unknown>;
  reconnect(): unknown;
}

/** The client's type of a transaction. On a synchronous client, it is the connection. */
export type SqliteTransactionOf<TClient> = TClient extends {
  transaction(mode: "write"): Promise<infer TTransaction extends LibsqlTransactionLike>;
}
  ? TTransaction
  : TClient;
