/** The last link: the store. */
import { RateLimitStoreError } from "../../../core/errors.js";
import type { OutageLog } from "../../report/logger.js";
import type { RateLimitStore, Submission } from "../../store/store.js";
import type { Apply, Ask } from "./asked.js";

export function fromStore(store: RateLimitStore): (submission: Submission<unknown>) => void {
  return (submission) => {
    if (store.submit !== undefined) return store.submit(submission);
    const { decision } = submission;
    store.apply([decision], submission).then(
      only(
        (result) => submission.resolve(result),
        (error) => submission.reject(error),
      ),
      (error: unknown) => submission.reject(error),
    );
  };
}

/** For the store of a transaction, which has no `submit`. */
export function oneByList(apply: Apply): Ask {
  return (call) => {
    const failed = (error: unknown) => call.failed(error);
    const done = (result: unknown) => call.done(result);
    apply([call.toDecision()]).then(only(done, failed), failed);
  };
}

/** For the store of a transaction, whose owner bounds its time. Only reports failures. */
export function reporting(outage: OutageLog): (store: Pick<RateLimitStore, "apply">) => Apply {
  return (store) => async (decisions) => {
    try {
      const results = await store.apply(decisions);
      if (outage.isOngoing) outage.end();
      return results;
    } catch (error) {
      reportStoreError(outage, error);
      throw error;
    }
  };
}

/** Reports neither errors of the application, nor conflicts, which the owner retries. */
export function reportStoreError(outage: OutageLog, error: unknown): void {
  const { name } = (error ?? {}) as { name?: unknown };
  if (name === "RateLimitStoreError") outage.failed(error);
}

/** Checks the answer, because an error thrown in this callback would reach no caller. */
function only(
  done: (result: unknown) => void,
  failed: (error: unknown) => void,
): (results: unknown) => void {
  return (results) => {
    if (Array.isArray(results) && results.length === 1) done(results[0]);
    else failed(new RateLimitStoreError("the store did not answer one decision with one result"));
  };
}
