/** A semaphore: at most so many holders at a time. Waiting callers are served in order. */
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { startTimer } from "../../timers/timer.js";

export interface Semaphore {
  /** Whether `acquire` would not have to wait. */
  readonly isFree: boolean;
  /**
   * Resolves with a function that gives the permit back. Rejects with the error of `late` if no
   * permit was free within `ms`.
   */
  acquire(ms: number, late: () => Error): Promise<() => void>;
}

export function createSemaphore(permits: number): Semaphore {
  // Without a bound where requests own their I/O: a request that was cancelled never gives its permit
  // back.
  let free = requestsOwnIo() ? Infinity : permits;
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
    get isFree() {
      return free > 0;
    },
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
