/** The database operations that group commit needs. */
import type { Bucket } from "../../core/config.js";
import type { Row } from "../../core/rows/row.js";
import type { WriteGroup } from "./plan-writes.js";
import type { RowId } from "./store.js";

export interface RowStatements {
  /** The rows that exist, by `rowKey`, as one consistent snapshot. */
  read(rows: readonly RowId[]): Promise<Map<string, Row>>;
  /**
   * Writes each group all or nothing, and only if every row of it still is as it `was`. Outside a
   * caller's transaction it never rejects, because one group may have been written when the next
   * one fails.
   *
   * @param isWanted whether the calls of a group have not timed out. It is asked before a statement
   * is sent. The outcome of a group that was not sent is an `UnsentError`.
   */
  write(
    groups: readonly WriteGroup[],
    isWanted?: (group: WriteGroup) => boolean,
  ): Promise<WriteOutcomes>;
}

/**
 * The outcome of each group: written, or an error after which it may or may not have been written.
 * A group that is missing met a conflict: it was not written, and has to be decided again. So has
 * one whose row `"exists"` although it was to be inserted. The row is there to be taken from now, so
 * it need not be locked first.
 */
export type WriteOutcomes = Map<WriteGroup, "written" | "exists" | { error: unknown }>;

/** What a row is charged by. */
export interface TakeTerms<TConfig extends Bucket = Bucket> {
  /**
   * Its `start` is not used: `fresh` has it applied, and an existing row has its own. Its period is a
   * number, or it has the calendar of a time zone.
   */
  config: TConfig;
  /** The least that a take may leave. */
  floor: number;
  /**
   * What is used at least before the take, at least 0. Of a lease's block, it is what refills while the
   * block may live.
   * @default 0
   */
  least?: number | undefined;
  /**
   * The most that a row of the config says as used, without a debt. Terms of one window of a time zone
   * have it, because they have a config of their own.
   * @default that of `config`
   */
  own?: number | undefined;
}

/** A take from one row, for one call or for several. */
export interface TakeLine<TConfig extends Bucket = Bucket> {
  row: RowId;
  terms: TakeTerms<TConfig>;
  /** The tokens of all calls of the line, taken together or not at all. A full row has them. */
  total: number;
  /**
   * The row to insert if there is none yet, after the tokens were taken. Of a token bucket, its `ts` is
   * the `now` of the take.
   */
  fresh: Row;
}

export interface TakeOptions {
  /** Epoch ms. */
  now: number;
  /**
   * Whether the statement may wait while another transaction holds one of its rows: for a single
   * line without a bound, which is a little cheaper. It may not while other batches wait already.
   */
  mayWait: boolean;
  /** See `SqlConnection.query`. */
  isWanted(): boolean;
}

export interface RowAccess extends RowStatements {
  /**
   * The plain path: one statement takes all lines. It decides while it holds the lock of each row,
   * with the formula of `takeTokens`. Resolves with the new states of the lines that were taken, by
   * `rowKey`. A line may be missing for any reason. Its calls are then decided by `decide`. Absent
   * if the database has no such statement, which may only be known after `prepare`.
   *
   * @param lines on different rows, in the order in which every process locks rows. They have the
   * same terms, unless `mixesTerms`.
   */
  readonly take?:
    ((lines: readonly TakeLine[], options: TakeOptions) => Promise<Map<string, Row>>) | undefined;
  /** The same for one line, where there is a shorter way. `undefined` if it was not taken. */
  readonly takeOne?:
    ((line: TakeLine, options: TakeOptions) => Promise<Row | undefined>) | undefined;
  /** Whether the lines of one take may differ in their terms. */
  readonly mixesTerms: boolean;
  /**
   * Runs `run` in a transaction. Its reads lock the rows that they find, and wait for locked rows
   * for a bounded time. Its statements throw on conflicts. Absent if the database has no row locks.
   *
   * @param isHurried whether other calls wait for its end, so that it should wait for less time.
   */
  locked?:
    | (<TResult>(
        run: (inside: RowStatements) => Promise<TResult>,
        isHurried: boolean,
      ) => Promise<TResult>)
    | undefined;
  /** Whether every decision goes through `locked`, in a Serializable transaction. */
  readonly serializable: boolean;
  /** Whether an error is a conflict with another transaction, so that nothing was written. */
  isConflict(error: unknown): boolean;
  /** The error that callers receive for an error of the database. */
  wrap(error: unknown): Error;
  /**
   * Checks the database, and learns its clock. No batch is dispatched before that. It returns
   * `undefined` when there is nothing to do. After a conflict it is tried again. After another
   * error, all waiting calls are rejected.
   */
  prepare?(): Promise<void> | undefined;
  /** Batches in flight at once, on different rows. */
  readonly maxInFlight: number;
  /**
   * Runs a statement that waits for no row. Absent if silence is never an outage, because the
   * database is a file.
   *
   * @param sent called when the statement has a connection. Some drivers do not tell.
   */
  probe?: ((sent: () => void) => Promise<unknown>) | undefined;
  /** See `SqlDriver.isExhausted`. */
  isExhausted?: (() => boolean) | undefined;
}

/**
 * The statement was not sent, because its calls had timed out.
 *
 * @example
 * import { UnsentError } from "trpc-rate-limit/server";
 *
 * // In the `query` of a driver that waits for a connection:
 * if (isWanted?.() === false) throw new UnsentError();
 */
export class UnsentError extends Error {
  /** The name of the class, the same in every copy of the package. */
  override readonly name = "UnsentError";

  constructor() {
    super("the statement was not sent, because its calls have timed out");
  }
}
