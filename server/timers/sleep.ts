/** Waits for any number of ms, until a signal is aborted. */
import { MAX_TIMEOUT } from "../../core/durations.js";

/** Resolves after `ms`. Rejects with the signal's reason when the signal is aborted first. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= MAX_TIMEOUT) {
    await new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted();
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        Math.min(left, MAX_TIMEOUT),
      );
      function onAbort() {
        clearTimeout(timer);
        reject(signal!.reason as Error);
      }
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
