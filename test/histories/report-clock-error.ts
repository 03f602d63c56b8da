/**
 * A process knows the database's clock only within the round trips of its readings, which are long on a
 * busy machine. The check of its calls allows for that error.
 */
import type { RateLimitStore } from "../../server/index.js";

/** Prints the largest error of the process's clock so far, ms, as a line of its own. */
export function reportClockError(store: RateLimitStore): void {
  let largest = 0;
  setInterval(() => {
    const error = Math.max(store.clockBehind?.() ?? 0, store.clockAhead?.() ?? 0);
    if (error <= largest) return;
    largest = error;
    process.stdout.write(`${JSON.stringify(error)}\n`);
  }, 20).unref();
}
