/**
 * The parts of `mysql2` and `mariadb` that a store needs. They are structural types, so the package
 * imports neither, and works with the pool of the application.
 */

/** A statement with options, which override the options of the pool. */
export interface MysqlQuery {
  /** The text, with `?` for each parameter. */
  sql: string;
  /** The parameters, in order. */
  values?: unknown[];
}

/**
 * A connection of `mysql2/promise` or `mariadb`. `query` sends values as text, and `execute` prepares
 * the statement.
 */
export interface MysqlQueryable {
  /** Sends the values inside the text. */
  query(query: MysqlQuery): Promise<unknown>;
  /** Prepares the statement, once per connection. */
  execute(query: MysqlQuery): Promise<unknown>;
}

/** A connection that a pool has lent. */
export interface MysqlConnectionLike extends MysqlQueryable {
  /** Gives the connection back to the pool. */
  release(): unknown;
  /** Closes the connection at once. */
  destroy(): void;
}

/** A pool of `mysql2/promise`, or of `mariadb`. */
export interface MysqlPoolLike {
  /** Lends a connection. */
  getConnection(): Promise<MysqlConnectionLike>;
}

/** A pool of `mysql2`, whose `promise()` returns a pool of `mysql2/promise`. */
export interface MysqlCallbackPoolLike {
  /** The same pool, with promises. */
  promise(): MysqlPoolLike;
}

/** The connections that a pool lends. */
export type MysqlConnectionOf<TPool extends MysqlPoolLike | MysqlCallbackPoolLike> =
  TPool extends MysqlCallbackPoolLike
    ? Awaited<ReturnType<ReturnType<TPool["promise"]>["getConnection"]>>
    : TPool extends MysqlPoolLike
      ? Awaited<ReturnType<TPool["getConnection"]>>
      : never;

/** Members that are not in the types of the drivers, or that only one of the drivers has. */
export interface PoolInternals {
  /** `mariadb` */
  idleConnections?(): number;
  activeConnections?(): number;
  taskQueueSize?(): number;
  /** `mysql2/promise`: the pool that it wraps. */
  pool?: { _freeConnections?: { length: number }; _connectionQueue?: { length: number } };
}

export interface ConnectionInternals {
  /** `mysql2/promise`: the connection that it wraps. */
  connection?: { stream?: { destroy?(): void } };
  /** `mysql2` without promises. */
  promise?(): MysqlQueryable;
}
