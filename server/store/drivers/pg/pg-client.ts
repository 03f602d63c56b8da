/**
 * The parts of `pg` that a store needs. They are structural types, so the package does not import `pg`,
 * and works with the pool of the application.
 */

export interface PgQuery {
  name?: string;
  text: string;
  values?: unknown[];
  /** See `SqlConnection.query`. `pg` ignores it. */
  doublesFrom?: number | undefined;
}

export interface PgResult {
  rows: unknown[];
  rowCount: number | null;
  /** The columns. */
  fields?: readonly { name: string; dataTypeID: number }[];
  /** The first word of what the server says was done, such as `COMMIT`. */
  command?: string;
}

/** A client of `pg`, or a `pg.Pool`, as far as it runs statements. */
export interface PgQueryable {
  /** Runs one statement. */
  query(query: PgQuery): Promise<PgResult>;
}

/** The other form of `query` in `pg`: with a callback for the answer, which is a little cheaper. */
export interface PgCallable {
  query(
    query: PgQuery,
    callback: (error: unknown, result?: PgResult) => void,
  ): Promise<PgResult> | undefined;
}

/** A client that a `pg.Pool` has lent. */
export interface PgClientLike extends PgQueryable {
  /**
   * Gives the client back to the pool.
   *
   * @param error closes the connection instead.
   */
  release(error?: Error | boolean): void;
  /** Calls `listener` when the connection fails while no statement is running. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Undoes `on`. */
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** A `pg.Pool`, as a structural type. */
export interface PgPoolLike extends PgQueryable {
  /** How many connections are open and not lent. */
  readonly idleCount?: number;
  /** How many requests wait for a connection because the pool is full. */
  readonly waitingCount?: number;
  /** Lends a client. */
  connect(callback: (error: Error | undefined, client: PgClientLike | undefined) => void): void;
}

/**
 * A `pg.Client` that is connected, as a structural type: one connection, which no pool has lent. Its
 * `connect` lends nothing.
 */
export interface PgSingleClientLike extends PgQueryable {
  /** Quotes an identifier. A pool does not have this method. */
  escapeIdentifier(text: string): string;
  /** `"T"` or `"E"` inside of a transaction. `pg` before 8.21 does not have this method. */
  getTransactionStatus?(): string | null;
}

/** A statement of the store ran, or would have run, in a transaction that the application has begun. */
export class InTransactionError extends Error {
  override readonly name = "InTransactionError";

  constructor() {
    super(
      "the client is in a transaction that the application has begun, and a rollback would give the " +
        "tokens back: call limiter.using(client), or wait for its end, or give the store a pool",
    );
  }
}

/** @throws InTransactionError if the last answer of the client was inside of a transaction. */
export function checkNotInTransaction(client: PgSingleClientLike): void {
  if (/^[TE]$/.test(client.getTransactionStatus?.() ?? "")) throw new InTransactionError();
}

export function isPgClient(client: object): client is PgSingleClientLike {
  const { escapeIdentifier, release } = Object(client) as Record<string, unknown>;
  // A client with `release` was lent by a pool, and goes back to that pool.
  return typeof escapeIdentifier === "function" && typeof release !== "function";
}

/** The clients that a pool lends, or the client itself. */
export type PgConnectionOf<TPool> = TPool extends PgSingleClientLike
  ? TPool
  : TPool extends PgPoolLike
    ? NonNullable<Parameters<Parameters<TPool["connect"]>[0]>[1]>
    : never;

const PARTS = ["host", "port", "database", "user", "connectionString", "options"] as const;

type ConnectionParameters = { readonly [TPart in (typeof PARTS)[number]]?: unknown };

/** Members that `pg` has, and that its types, or substitutes for `pg`, may lack. */
interface Connectable {
  /** Of a client. */
  readonly connectionParameters?: ConnectionParameters;
  /** Of a pool. */
  readonly options?: ConnectionParameters;
}

/**
 * The database to which a pool or a client connects, as one text. See `SqlDriver.database`.
 *
 * @returns `undefined` if the database is not known.
 */
export function pgDatabaseOf(client: object): string | undefined {
  const { connectionParameters, options } = client as Connectable;
  const parameters = connectionParameters ?? options;
  if (typeof parameters !== "object" || parameters === null) return undefined;
  const parts = PARTS.map((part) => parameters[part] ?? null);
  return parts.every((part) => part === null) ? undefined : JSON.stringify(parts);
}
