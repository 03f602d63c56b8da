/** What is particular about a database: the text of its statements. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { Write, WriteGroup } from "../plan-writes.js";
import type { TakeLine, TakeOptions, TakeTerms } from "../row-access.js";
import type { RowId } from "../store.js";
import type { SqlConnection } from "./driver.js";

/** Where a dialect's statements run. */
export interface Connection extends SqlConnection {
  /**
   * What to do about a row that another transaction has locked, where the database leaves a choice.
   *
   * - `"skip"`: take it for changed. Reads do not lock. For single statements.
   * - `"fail"`: raise a conflict at once, for an owner who will retry. At Serializable a wait would
   *   end in one anyway, and two waits can be a deadlock.
   * - `"wait"`: for an owner who might not retry.
   * - `"wait briefly"`: the same, for a bounded time, in a transaction of the store's own.
   */
  readonly onLocked: "skip" | "fail" | "wait" | "wait briefly";
  /** Runs `run` in a transaction of its own; absent inside of one. */
  readonly transaction?:
    (<TResult>(run: (tx: Connection) => Promise<TResult>) => Promise<TResult>) | undefined;
}

/**
 * The statements on one table. A row counts as written where the statement says so; a missing one
 * was not as it should be, and nothing of it was written.
 */
export interface Dialect {
  /** Batches in flight at once, on different rows. */
  readonly maxInFlight: number;
  /** Whether reads inside of a transaction lock rows, and wait for transactions that have. */
  readonly hasRowLocks: boolean;
  /** Resolves when the table is fit for limits; rejects with what is wrong with it. */
  checkGround?(connection: SqlConnection): Promise<void>;
  /** Whether an error says that others were in the way, and that nothing was written. */
  isConflict(error: unknown): boolean;
  /** The rows that exist, by `rowKey`. Inside of a transaction it locks them, where it can. */
  read(connection: Connection, rows: readonly RowId[]): Promise<Map<string, RateLimitState>>;
  /** See `RowAccess.take`. */
  take(
    connection: SqlConnection,
    terms: TakeTerms,
    lines: readonly TakeLine[],
    options: TakeOptions,
  ): Promise<Map<string, RateLimitState>>;
  /** Whether `update` also inserts rows, where there were none and still are none. */
  readonly canUpsert: boolean;
  /**
   * Writes groups of rows that exist, each group where all of its rows are as they were. Returns
   * the rows written, by `rowKey`.
   */
  update(connection: Connection, groups: readonly WriteGroup[]): Promise<ReadonlySet<string>>;
  /** Inserts rows where there are none. Returns those inserted. */
  insert(connection: Connection, writes: readonly Write[]): Promise<ReadonlySet<string>>;
  /** Deletes rows that are as they were. Returns those deleted. */
  remove(connection: Connection, writes: readonly Write[]): Promise<ReadonlySet<string>>;
  /** See `RateLimitStore.list`. */
  list(
    connection: SqlConnection,
    name: string,
    after: RowId | undefined,
    count: number,
  ): Promise<RowId[]>;
}
