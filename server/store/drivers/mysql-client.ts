/**
 * The parts of `mysql2` and `mariadb` that a store needs. They are structural types, so the package
 * imports neither, and works with the pool of the application.
 */

/** A statement with options, which go before those of the pool. */
export interface MysqlQuery {
  sql: string;
  values?: unknown[];
}

/**
 * A connection of `mysql2/promise` or `mariadb`. `query` sends values as text, and `execute` prepares
 * the statement.
 */
export interface MysqlQueryable {
  query(query: MysqlQuery): Promise<unknown>;
  execute(query: MysqlQuery): Promise<unknown>;
}

/** A connection that a pool has lent. */
export interface MysqlConnectionLike extends MysqlQueryable {
  release(): unknown;
  destroy(): void;
}

/** A pool of `mysql2/promise`, or of `mariadb`. */
export interface MysqlPoolLike {
  getConnection(): Promise<MysqlConnectionLike>;
}

/** A pool of `mysql2`, whose `promise()` is that of `mysql2/promise`. */
export interface MysqlCallbackPoolLike {
  promise(): MysqlPoolLike;
}

/** The connections that a pool lends. */
export type MysqlConnectionOf<TPool extends MysqlPoolLike | MysqlCallbackPoolLike> =
  TPool extends MysqlCallbackPoolLike
    ? Awaited<ReturnType<ReturnType<TPool["promise"]>["getConnection"]>>
    : TPool extends MysqlPoolLike
      ? Awaited<ReturnType<TPool["getConnection"]>>
      : never;

/** What is not in the types of the drivers, and what only one of them has. */
export interface PoolInternals {
  /** `mariadb` */
  idleConnections?(): number;
  /** `mysql2/promise`: the pool that it wraps. */
  pool?: { _freeConnections?: { length: number } };
}

export interface ConnectionInternals {
  on?(event: "error", listener: () => void): unknown;
  removeListener?(event: "error", listener: () => void): unknown;
  /** `mysql2/promise`: the connection that it wraps. */
  connection?: { stream?: { destroy?(): void } };
  /** `mysql2` without promises. */
  promise?(): MysqlQueryable;
}
