/**
 * A driver: a database client behind one narrow interface. The statements belong to the dialects,
 * so a driver knows nothing about limits.
 */

/** The kinds of SQL that the package writes. MariaDB understands the SQL of MySQL. */
export type DialectName = "postgresql" | "mysql" | "sqlite";

/** A row of a result, keyed by column. */
export type SqlRow = Record<string, unknown>;

/** Where statements run: on any connection, or on that of a transaction. */
export interface SqlConnection {
  /**
   * Runs one statement and resolves with the rows that it returned, as objects keyed by column.
   * Doubles are exact. Numbers may be strings or bigints.
   *
   * @param text with parameters in the syntax of the database: `$1` on PostgreSQL, `?` elsewhere.
   * @param params strings and numbers, on PostgreSQL also arrays of them, elsewhere also `null`.
   * Numbers are sent to the last bit: whole ones may be sent as integers, others as doubles.
   * @param isWanted called by a driver that waits for a connection itself, once the driver has a
   * connection. If `isWanted` returns false, the driver sends nothing and rejects with an
   * `UnsentError`: the calls of the statement have timed out meanwhile, and should not be charged.
   * @param doublesFrom the index of a parameter: this parameter and all after it are numbers for which
   * the database expects a double, so a driver may send their eight bytes.
   */
  query(
    text: string,
    params: readonly unknown[],
    isWanted?: () => boolean,
    doublesFrom?: number,
  ): Promise<SqlRow[]>;
  /**
   * Runs one statement and resolves with the number of rows that it has written. On MySQL the
   * number includes rows that were found and not changed.
   *
   * @param isWanted as in `query`.
   */
  execute(text: string, params: readonly unknown[], isWanted?: () => boolean): Promise<number>;
}

/** A statement of a `batch`. */
export interface SqlStatement {
  /** As in `query`. */
  text: string;
  /** As in `query`. */
  params: readonly unknown[];
}

/** The options of a driver's `transaction`. */
export interface DriverTransactionOptions {
  /** The isolation level that the transaction has to have, at least. */
  isolationLevel: "ReadCommitted" | "Serializable";
  /** How long the transaction may take, ms. @default the driver's own */
  timeout?: number | undefined;
  /** How long to wait for a connection, ms. @default the driver's own */
  maxWait?: number | undefined;
}

/**
 * A database client that a SQL store can use; see `sqlStore`.
 *
 * @typeParam TTransaction the client's type of a transaction.
 */
export interface SqlDriver<TTransaction = unknown> extends SqlConnection {
  /** The kind of SQL that the database understands. */
  readonly dialect: DialectName;
  /**
   * The database: a text, or an object such as a binding, that is the same for every driver of this
   * database. The stores of one database then share what they know of it: that its table was checked,
   * and its clock. A text counts only on Cloudflare Workers, where a store may live for one request.
   * Without `database`, each store learns these facts for itself.
   */
  readonly database?: string | object | undefined;
  /** The driver's own defaults, if the application can change them. */
  readonly transactionDefaults?: { timeout?: number; maxWait?: number } | undefined;
  /**
   * Runs `run` in a transaction of its own. The transaction commits when `run` resolves, and rolls back
   * when `run` rejects or the COMMIT fails. Rejects with the same error as `run`, or with that of the
   * BEGIN or the COMMIT. Statements of the driver itself are never part of the transaction.
   *
   * Leave `transaction` out if the client has no interactive transactions, as over HTTP. Decisions are
   * single statements then. On PostgreSQL, single statements are enough for all decisions.
   */
  transaction?<TResult>(
    run: (tx: TTransaction) => Promise<TResult>,
    options: DriverTransactionOptions,
  ): Promise<TResult>;
  /**
   * Runs a few statements in one transaction, and resolves with the rows of each, in order. For a
   * client that has such batches, and no interactive transactions. Only SQLite uses `batch`.
   */
  batch?(statements: readonly SqlStatement[]): Promise<SqlRow[][]>;
  /** The connection of a transaction, also of one that the application has begun. */
  within(tx: TTransaction): SqlConnection;
  /**
   * Calls `listener` when the pool of the client reports an error that no statement receives, and
   * the application does not listen to the pool. Returns a function that ends the calls.
   */
  onPoolError?(listener: (error: unknown) => void): () => void;
  /**
   * Whether statements wait for a connection because the pool has lent as many connections as it may
   * open. Asked only while the database seems to be silent. If true, the store is busy and has not
   * failed; see `RateLimitStoreError.isOutage`. Leave this method out if the client does not tell.
   */
  isExhausted?(): boolean;
  /** Whether an error is a conflict, in addition to the shapes that are known for every driver. */
  isConflict?(error: unknown): boolean;
}

/** A driver that has transactions. */
export interface TransactionDriver<TTransaction> extends SqlDriver<TTransaction> {
  transaction: NonNullable<SqlDriver<TTransaction>["transaction"]>;
}
