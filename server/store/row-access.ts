/** What a database has to offer for group commit to be built on it. */
import type { RateLimitState } from "../../core/calculate.js";
import type { RateLimitConfig } from "../../core/config.js";
import type { WriteGroup } from "./plan-writes.js";
import type { RowId } from "./store.js";

export interface RowStatements {
  /** The rows that exist, by `rowKey`, as one consistent snapshot. */
  read(rows: readonly RowId[]): Promise<Map<string, RateLimitState>>;
  /**
   * Writes each group all or nothing, and only where every row of it still is as it `was`. Outside
   * of a caller's transaction it never rejects, because one group may have been written when the
   * next one fails.
   */
  write(groups: readonly WriteGroup[]): Promise<WriteOutcomes>;
}

/**
 * What became of each group: written, or an error after which it may or may not have been. A group
 * that is missing lost a race: it certainly was not written, and is to be decided again.
 */
export type WriteOutcomes = Map<WriteGroup, "written" | { error: unknown }>;

/** A take from one row, for one call or for several. */
export interface TakeLine {
  row: RowId;
  /** Tokens wanted by all calls of the line together; they are taken together or not at all. */
  total: number;
  /** The state to insert where there is no row yet, the tokens taken. */
  fresh: RateLimitState;
}

/** What all lines of one statement have in common. */
export interface TakeTerms {
  /** `start` does not matter: `fresh` goes by it, and a row that exists brings its own. */
  config: RateLimitConfig;
  /** The least that a take may leave. */
  floor: number;
  /** Epoch ms. */
  now: number;
}

export interface TakeOptions {
  /**
   * Whether the statement may wait for as long as another transaction holds the row, which is only
   * so for a single line. It is a little cheaper.
   */
  mayWait: boolean;
  /** See `SqlConnection.query`. */
  isWanted(): boolean;
}

export interface RowAccess extends RowStatements {
  /**
   * The plain path: takes each line in one statement that decides on the row's own lock, with the
   * formula of `takeTokens`. Resolves with the new states of the lines that were taken, by
   * `rowKey`. A line may be left out for any reason; `decide` then has the last word.
   *
   * @param lines on different rows, in the order in which every process locks rows.
   */
  take(
    terms: TakeTerms,
    lines: readonly TakeLine[],
    options: TakeOptions,
  ): Promise<Map<string, RateLimitState>>;
  /**
   * Runs `run` in a transaction whose reads lock what they find and wait for a row that others have
   * locked, for a bounded time, and whose statements throw on conflicts. Absent where a database
   * has no row locks.
   */
  locked?:
    (<TResult>(run: (inside: RowStatements) => Promise<TResult>) => Promise<TResult>) | undefined;
  /** Whether every decision goes through `locked`, in a transaction that is Serializable. */
  readonly serializable: boolean;
  /** Whether an error says that others were in the way, and that nothing was written. */
  isConflict(error: unknown): boolean;
  /** How an error is shown to callers. */
  wrap(error: unknown): Error;
  /** Batches in flight at once, on different rows. */
  readonly maxInFlight: number;
}

/** Nothing was sent, because nothing waited for it any more. */
export class UnsentError extends Error {
  override readonly name = "UnsentError";

  constructor() {
    super("the statement was not sent: its calls have been given up");
  }
}
