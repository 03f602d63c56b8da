/** A dialect: the statements of one kind of database. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { Write, WriteGroup } from "../plan-writes.js";
import type { PeriodicConfig } from "../../../core/config.js";
import type { TakeLine, TakeOptions } from "../row-access.js";
import type { RowId } from "../store.js";
import type { DatabaseClock } from "./table/database-clock.js";
import type { TableName } from "./sql.js";
import type { SqlConnection, SqlDriver } from "./driver.js";

/**
 * Which lock reads and writes take, and how long they wait for rows that other transactions have
 * locked, as far as the database offers a choice.
 *
 * The locks:
 * - `"none"`: reads do not lock. Writes leave out rows that are locked, as if they had changed. For
 *   single statements.
 * - `"exclusive"`: keeps all other transactions out.
 * - `"holding"`: keeps them out, too, but lets those with `"passing"` pass.
 * - `"passing"`: the same as `"exclusive"`, but passes a transaction with `"holding"`.
 *
 * The patience:
 * - `"none"`: a locked row is a conflict at once, because the owner of the transaction retries. At
 *   Serializable a wait would end in a conflict anyway, and two waits can be a deadlock.
 * - `"brief"`: a bounded wait.
 * - `"hurried"`: the same, but shorter if the database can bound it so. Other calls wait for the end
 *   of this transaction.
 * - `"unbounded"`: the owner of the transaction might not retry.
 */
export type Locking =
  | { readonly lock: "none"; readonly patience?: undefined }
  | { readonly lock: "exclusive"; readonly patience: "none" | "brief" | "hurried" | "unbounded" }
  | { readonly lock: "holding"; readonly patience: "unbounded" }
  | { readonly lock: "passing"; readonly patience: "none" | "unbounded" };

/** Where a dialect's statements run. */
export interface Connection extends SqlConnection {
  readonly locking: Locking;
  /**
   * Runs `run` in a transaction of its own. Absent inside a transaction. Rejects with a
   * `NoTransactionsError` if the driver has none.
   */
  readonly transaction?:
    (<TResult>(run: (tx: Connection) => Promise<TResult>) => Promise<TResult>) | undefined;
  /** Whether the driver has no transactions. */
  readonly isSingle?: boolean;
  /** See `SqlDriver.batch`. */
  readonly batch?: SqlDriver["batch"];
}

/** Something was to be written that needs a transaction, and the driver has none. */
export class NoTransactionsError extends Error {
  override readonly name = "NoTransactionsError";

  constructor(what: string) {
    super(`${what} needs a transaction, and this driver has none; use one that keeps a connection`);
  }
}

/**
 * @param table the table's name, not quoted.
 * @param clock reads the database's clock through the statements that select and take rows.
 */
export type CreateDialect = (table: TableName, clock: DatabaseClock) => Dialect;

/**
 * The statements on one table. A row was written if the statement returns it. If a row is missing,
 * it was not as expected, and was not written.
 */
export interface Dialect {
  /** Batches in flight at once, on different rows. */
  readonly maxInFlight: number;
  /** Whether reads inside a transaction lock rows, and wait for rows that others have locked. */
  readonly hasRowLocks: boolean;
  /**
   * Learns what its statements depend on, before the first of them.
   *
   * @param version what the database reports; see `VERSION`.
   */
  prepare?(version: string): void;
  /**
   * Whether a Serializable transaction that waits for a row fails if the row has changed meanwhile.
   * Such a dialect supports the locks `"holding"` and `"passing"`. It may only be known after `prepare`.
   */
  readonly waitingOutdatesSnapshot: boolean;
  /**
   * The text of a statement that bounds, for the rest of a transaction, how long each statement may
   * wait for a lock. It takes no snapshot. Absent if the statements have bounds of their own.
   */
  boundLockWaits?(ms: number): string;
  /**
   * The text of a statement that writes nothing, and that a server refuses as read-only if it accepts
   * no writes. Absent if there is none.
   */
  readonly readOnlyProbe?: string;
  /**
   * Whether a conflict may have rolled a whole transaction back, so that its next statements would
   * be committed one by one. Other databases reject them.
   */
  readonly conflictEndsTransaction: boolean;
  /** Whether an error is a conflict with another transaction, so that nothing was written. */
  isConflict(error: unknown): boolean;
  /** The rows that exist, by `rowKey`. Inside a transaction it locks them, if it can. */
  read(connection: Connection, rows: readonly RowId[]): Promise<Map<string, RateLimitState>>;
  /** See `RowAccess.take`. */
  readonly take?:
    | ((
        connection: SqlConnection,
        lines: readonly TakeLine<PeriodicConfig>[],
        options: TakeOptions,
      ) => Promise<Map<string, RateLimitState>>)
    | undefined;
  /** See `RowAccess.mixesTerms`. It may only be known after `prepare`. */
  readonly mixesTerms: boolean;
  /**
   * Whether `update` also inserts rows that did not exist and still do not, and guards those that
   * have to stay absent.
   */
  readonly canUpsert: boolean;
  /**
   * Writes groups of rows that exist, each group only if all of its rows are as they were. Returns
   * the rows that were written, by `rowKey`.
   */
  update(connection: Connection, groups: readonly WriteGroup[]): Promise<ReadonlySet<string>>;
  /** Inserts rows that do not exist. Returns those inserted. */
  insert(connection: Connection, writes: readonly Write[]): Promise<ReadonlySet<string>>;
  /** Deletes rows that are as they were. Returns those deleted. */
  remove(connection: Connection, writes: readonly Write[]): Promise<ReadonlySet<string>>;
  /**
   * Writes a group of several kinds of write in one statement or one batch, all or nothing, for
   * drivers without transactions. Returns the rows that were written, or none. Absent if the
   * database cannot, which may only be known after `prepare`.
   */
  readonly writeAtOnce?:
    | ((
        connection: Pick<Connection, "query" | "batch">,
        writes: readonly Write[],
      ) => Promise<ReadonlySet<string>>)
    | undefined;
  /** See `RateLimitStore.list`. */
  list(
    connection: SqlConnection,
    name: string,
    after: RowId | undefined,
    count: number,
    prefix?: string,
  ): Promise<RowId[]>;
  /** The first name after `after`, in the order of the primary key, found without a scan. */
  nextName(connection: SqlConnection, after: string | undefined): Promise<string | undefined>;
}

/** A connection inside a transaction. */
export function inside(connection: SqlConnection, locking: Locking): Connection {
  return {
    query: (...query) => connection.query(...query),
    execute: (...query) => connection.execute(...query),
    locking,
  };
}

/** Bounds how long each later statement of a transaction may wait for a lock, ms. */
export async function boundLockWaits(
  dialect: Dialect,
  connection: SqlConnection,
  ms: number,
): Promise<void> {
  if (dialect.boundLockWaits) await connection.execute(dialect.boundLockWaits(ms), []);
}
