/** The database operations that group commit needs. */
import type { Bucket } from "../../core/config.js";
import type { Row } from "../../core/rows/row.js";
import type { WriteGroup } from "./plan-writes.js";
import type { RowId } from "./store.js";

export interface RowStatements {
  /** The rows that exist, by `rowKey`, as one consistent snapshot. */
  read(rows: readonly RowId[]): Promise<Map<string, Row>>;
  /**
   * Writes each group all or nothing, and only if the state of every row in it still is `was`. Outside
   * a caller's transaction, `write` never rejects, because one group may have been written when the
   * next group fails.
   *
   * @param isWanted false once a call of the group has timed out. `isWanted` is asked before a
   * statement is sent. The outcome of a group that was not sent is an `UnsentError`.
   */
  write(
    groups: readonly WriteGroup[],
    isWanted?: (group: WriteGroup) => boolean,
  ): Promise<WriteOutcomes>;
}

/**
 * The outcome of each group:
 * - `"written"`.
 * - `{ error }`: the group may or may not have been written.
 * - Missing: the group met a conflict. The group was not written, and has to be decided again.
 * - `"exists"`: the group was to insert a row that exists. The group was not written, and has to be
 *   decided again. The next try can take from the row, so the row need not be locked first.
 */
export type WriteOutcomes = Map<WriteGroup, "written" | "exists" | { error: unknown }>;

/** The config and the bounds by which a row is charged. */
export interface TakeTerms<TConfig extends Bucket = Bucket> {
  /**
   * The config's `start` is not used: `TakeLine.fresh` follows from it already, and an existing row has
   * a start of its own. The config has a number as its period, or the calendar of a time zone.
   */
  config: TConfig;
  /** The least that a take may leave. */
  floor: number;
  /**
   * The least that counts as used before the take, from 0 on. For the block of a lease, this number is
   * what refills while the block may live.
   * @default 0
   */
  least?: number | undefined;
  /**
   * The least that must be used for the take, which then begins no window. A row that has used less, or
   * whose next window has begun, is refused. So a take between two levels of `warnAt` crosses neither.
   * @default no bound
   */
  over?: number | undefined;
  /**
   * The most that a row of the config says as used, without a debt. Set only in terms of one window of
   * a time zone: their `config` is not the config of the row.
   * @default that of `config`
   */
  own?: number | undefined;
}

/** A take from one row, for one call or for several. */
export interface TakeLine<TConfig extends Bucket = Bucket> {
  row: RowId;
  terms: TakeTerms<TConfig>;
  /** The tokens of all calls of the line, taken together or not at all. A full row has so many tokens. */
  total: number;
  /**
   * The row to insert if there is none yet: a full row from which the tokens were taken. For a token
   * bucket, its `ts` is the `now` of the take.
   */
  fresh: Row;
}

export interface TakeOptions {
  /** Epoch ms. */
  now: number;
  /**
   * Whether the statement may wait while another transaction holds one of its rows. A single line then
   * waits without a bound, which is a little cheaper. False while other batches wait already.
   */
  mayWait: boolean;
  /** See `SqlConnection.query`. */
  isWanted(): boolean;
}

export interface RowAccess extends RowStatements {
  /**
   * The plain path: one statement takes all lines. The statement decides while it holds the lock of
   * each row, with the formula of `takeTokens`. Resolves with the new states of the lines that were
   * taken, by `rowKey`. A line may be missing for any reason: its calls are then decided by `decide`.
   * Absent if the database has no such statement, which may only be known after `prepare`.
   *
   * @param lines on different rows, in the order in which every process locks rows. All lines have the
   * same terms, unless `mixesTerms`.
   */
  readonly take?:
    ((lines: readonly TakeLine[], options: TakeOptions) => Promise<Map<string, Row>>) | undefined;
  /**
   * `take` for one line, where the database has a shorter statement. Resolves with `undefined` if the
   * line was not taken.
   */
  readonly takeOne?:
    ((line: TakeLine, options: TakeOptions) => Promise<Row | undefined>) | undefined;
  /** Whether the lines of one take may differ in their terms. */
  readonly mixesTerms: boolean;
  /**
   * Runs `run` in a transaction. Reads in this transaction lock the rows that they find, and wait for
   * locked rows for a bounded time. Statements in this transaction throw on conflicts. Absent if the
   * database has no row locks.
   *
   * @param isHurried whether other calls wait for the end of the transaction, so that it should wait
   * less for locks.
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
   * Checks the database, and learns its clock. No batch is dispatched before the check has ended.
   * Returns `undefined` when there is nothing to do. After a conflict, the check is tried again. After
   * another error, all waiting calls are rejected.
   */
  prepare?(): Promise<void> | undefined;
  /** The most batches in flight at once, on different rows. */
  readonly maxInFlight: number;
  /**
   * Runs a statement that waits for no row. Absent if silence is never an outage, because the
   * database is a file.
   *
   * @param sent called when the statement has a connection. Some drivers never call it.
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
