/**
 * Bounds how long calls wait. All calls of a limiter wait equally long, so they expire in the order
 * in which they came: one timer, for the oldest, serves them all.
 */
import type { Call } from "./store/store.js";

interface Entry extends Call {
  expired: boolean;
  expiresAt: number;
  reject(error: Error): void;
}

/** Runs work; rejects with `late()` when it takes longer than the timeout. */
export type Deadline = <TResult>(work: (call: Call) => Promise<TResult>) => Promise<TResult>;

/** @param timeout ms. `Infinity` waits for ever. */
export function createDeadline(timeout: number, late: () => Error): Deadline {
  const entries = new Set<Entry>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function arm(): void {
    const oldest = entries.values().next().value;
    if (oldest === undefined || timer !== undefined) return;
    timer = setTimeout(expire, Math.max(0, oldest.expiresAt - performance.now()));
  }

  function expire(): void {
    timer = undefined;
    const now = performance.now();
    for (const entry of entries) {
      if (entry.expiresAt > now) break;
      entries.delete(entry);
      entry.expired = true;
      entry.reject(late());
    }
    arm();
  }

  function forget(entry: Entry): void {
    entries.delete(entry);
    if (entries.size > 0) return;
    clearTimeout(timer);
    timer = undefined;
  }

  return (work) => {
    if (timeout === Infinity) return work({ expired: false });
    return new Promise((resolve, reject) => {
      const entry = { expired: false, expiresAt: performance.now() + timeout, reject };
      entries.add(entry);
      arm();
      work(entry).then(
        (result) => {
          forget(entry);
          resolve(result);
        },
        (error: unknown) => {
          forget(entry);
          reject(error);
        },
      );
    });
  };
}
