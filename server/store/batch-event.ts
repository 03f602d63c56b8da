/** The report of a store about its batches, for metrics. */

/** The argument of `onBatch`: a batch of calls that the store has sent to its database together. */
export interface BatchEvent {
  /**
   * How the batch was carried out.
   *
   * - `read`: nothing is written.
   * - `take`: one statement takes the tokens.
   * - `decide`: rows are read, decided in this process, and written if they have not changed since.
   * - `lock`: as `decide`, in a transaction that locks the rows first.
   */
  way: "read" | "take" | "decide" | "lock";
  /**
   * The number of calls in the batch. A call that goes out again, after a conflict or after a
   * statement that found too few tokens, counts in each of its batches.
   */
  calls: number;
  /** The number of rows of these calls. */
  rows: number;
  /**
   * How long the batch took, ms, by a monotonic clock: all of its statements, and the wait for a
   * connection.
   */
  duration: number;
  /** The number of calls that must be decided again because of a conflict. */
  conflicts: number;
  /** Whether the database failed, so that calls of the batch were rejected. */
  failed: boolean;
}

/** Called after each batch. */
export type BatchListener = (event: BatchEvent) => void;
