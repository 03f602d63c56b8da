/** Bounds of how long `verify` waits for a database that may have stopped answering. */
import { within as rejectLate } from "../../server/store/transactions/time-limits.js";

/** Rejects after `ms`. What `work` does later is not waited for. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return rejectLate(work, ms, () => new Error(`took longer than ${ms / 1000} s`));
}

/** Rejects as soon as `signal` aborts. What `work` does later is not waited for. */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]);
}
