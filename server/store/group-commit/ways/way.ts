/** How the calls of a batch are carried out. */
import { UnsentError, type RowAccess } from "../../row-access.js";
import type { BatchEvent } from "../../batch-event.js";
import type { Batch, Job } from "../batch.js";

export type WayName = BatchEvent["way"];

/** Each way has its own idea of which calls share a batch, and of how a batch is sent. */
export interface Way {
  readonly name: WayName;
  /** A batch with this call. `undefined` if the call cannot go this way after all. */
  begin(job: Job): Batch | undefined;
  /**
   * Adds a call to a batch of this way, if the batch can carry it.
   *
   * @param way on which the call would go by itself.
   * @param maxRows for a call on rows that are not in the batch yet.
   */
  join(batch: Batch, job: Job, way: Way, maxRows: number): boolean;
  /**
   * Sends the batch. Never rejects.
   *
   * @param isHurried whether others wait for the end of the batch, so that it should not wait for
   * locked rows as long as it could.
   */
  carryOut(batch: Batch, isHurried: boolean): Promise<Outcome>;
}

/** What became of a batch. */
export interface Outcome {
  /** Calls that must be decided again. */
  readonly again: readonly Job[];
  /** The way on which they are decided again. */
  readonly nextWay: WayName;
  /** How many of them met a conflict with another transaction. */
  readonly conflicts: number;
  /** Whether the database failed, so that calls are rejected. */
  readonly failed: boolean;
  /** Settles the other calls. */
  answer(): void;
}

/**
 * The outcome of a batch whose statement failed as a whole, or was not sent.
 *
 * @param nextWay the way after a conflict.
 */
export function outcomeOfError(
  { jobs, way }: Batch,
  access: Pick<RowAccess, "isConflict" | "wrap">,
  error: unknown,
  nextWay: WayName,
): Outcome {
  if (error instanceof UnsentError) {
    // The calls that have not timed out are tried again.
    return { again: jobs, nextWay: way.name, conflicts: 0, failed: false, answer() {} };
  }
  if (access.isConflict(error)) {
    return { again: jobs, nextWay, conflicts: jobs.length, failed: false, answer() {} };
  }
  const answer = () => {
    for (const job of jobs) job.reject(access.wrap(error));
  };
  return { again: [], nextWay, conflicts: 0, failed: true, answer };
}
