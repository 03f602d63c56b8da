/**
 * Bounds a transaction of a library that has no bound of its own. A transaction that is late is
 * rolled back at its end, and not earlier: the library would give its connection back to the pool,
 * and statements that the application still sends would run outside of the transaction.
 */
import { TIMEOUT } from "../../transactions/time-limits.js";

/** PostgreSQL answers so to all statements of a transaction after one of them has failed. */
const ABORTED = "25P02";
export const ROLLED_BACK =
  "the transaction was rolled back, because one of its statements had failed; rethrow its error";

/**
 * Rejects if a transaction of PostgreSQL can no longer be committed. The COMMIT would roll it back
 * without an error, and most libraries do not notice.
 *
 * @param ping runs any statement in the transaction.
 */
export async function checkNotAborted(ping: () => Promise<unknown>): Promise<void> {
  try {
    await ping();
  } catch (error) {
    const { code, errno, cause } = error as { code?: unknown; errno?: unknown; cause?: unknown };
    const codes = [code, errno, (cause as { code?: unknown } | undefined)?.code];
    throw codes.includes(ABORTED) ? new Error(ROLLED_BACK) : error;
  }
}

/**
 * @param timeout ms
 * @param beforeCommit rejects if the transaction cannot be committed.
 */
export function runBounded<TTransaction, TResult>(
  run: (tx: TTransaction) => Promise<TResult>,
  timeout: number = TIMEOUT,
  beforeCommit?: (tx: TTransaction) => Promise<void>,
): (tx: TTransaction) => Promise<TResult> {
  return async (tx) => {
    const begunAt = performance.now();
    const result = await run(tx);
    await beforeCommit?.(tx);
    if (performance.now() - begunAt > timeout) {
      throw new Error(`the transaction took longer than ${timeout} ms`);
    }
    return result;
  };
}
