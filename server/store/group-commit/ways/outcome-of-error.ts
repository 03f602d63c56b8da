import { UnsentError, type RowAccess } from "../../row-access.js";
import type { Batch, Outcome, WayName } from "../batch.js";

/**
 * The outcome of a batch whose statement failed as a whole, or was not sent.
 *
 * @param nextWay the way on which the calls are decided again after a conflict.
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
