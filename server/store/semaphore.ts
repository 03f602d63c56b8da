/** A semaphore: at most so many holders at a time. Waiting callers are served in order. */

import { startTimer } from "../timers/timer.js";

export interface Semaphore {
  /**
   * Resolves with a function that gives the permit back. Rejects with the error of `late` if no
   * permit was free within `ms`.
   */
  acquire(ms: number, late: () => Error): Promise<() => void>;
}

export function createSemaphore(permits: number): Semaphore {
  let free = permits;
  const waiting = new Set<() => void>();

  function permit(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [next] = waiting;
      if (next === undefined) free++;
      else next();
    };
  }

  return {
    acquire(ms, late) {
      if (free > 0) {
        free--;
        return Promise.resolve(permit());
      }
      return new Promise((resolve, reject) => {
        const next = () => {
          timer.stop();
          waiting.delete(next);
          resolve(permit());
        };
        const timer = startTimer(() => {
          waiting.delete(next);
          reject(late());
        }, ms);
        waiting.add(next);
      });
    },
  };
}
