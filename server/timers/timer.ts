/**
 * Timers for the time-outs of this package. These timers differ from the timers of the platform in two
 * ways.
 *
 * - Any number of ms works. A `setTimeout` of 2^31 ms or more, or of `Infinity`, ends at once.
 * - A process that is busy for long can neither send statements nor read answers. The timers of such a
 *   process are late, and run before the process reads the answers that have arrived meanwhile. A timer
 *   here that is late therefore waits once more, for the time by which it is late. Before a timer ends,
 *   the process reads what has arrived.
 */
import { MAX_TIMEOUT } from "../../core/durations.js";

export interface Timer {
  /**
   * Something waits for the timer: the timer keeps the process alive. A new timer keeps the process
   * alive, too.
   */
  ref(): void;
  /** Nothing waits for the timer: the timer does not keep the process alive. */
  unref(): void;
  /** Ends the timer. Does nothing if it has ended. */
  stop(): void;
}

/**
 * Calls `run` after `ms`. A timer that is late waits once more, for the time by which it is late, at most
 * `ms`.
 *
 * @param ms never, if `Infinity`
 */
export function startTimer(run: () => void, ms: number): Timer {
  let handle: unknown;
  let isRef = true;

  function wait(left: number, isSecond: boolean): void {
    const part = Math.min(Math.max(0, left), MAX_TIMEOUT);
    const dueAt = performance.now() + part;
    const onTimeout = () => {
      if (left > part) return wait(left - part, isSecond);
      const late = performance.now() - dueAt;
      if (late > ON_TIME && !isSecond) return wait(Math.min(late, ms), true);
      hold(afterReads(end));
    };
    hold(setTimeout(onTimeout, part));
  }

  function end(): void {
    if (handle === undefined) return;
    handle = undefined;
    run();
  }

  /** In edge runtimes, timers are numbers without `unref`, and there is no process to keep alive. */
  function hold(next: unknown): void {
    handle = next;
    if (!isRef) (handle as Partial<Timer>).unref?.();
  }

  if (ms !== Infinity) wait(ms, false);
  return {
    ref() {
      isRef = true;
      (handle as Partial<Timer> | undefined)?.ref?.();
    },
    unref() {
      isRef = false;
      (handle as Partial<Timer> | undefined)?.unref?.();
    },
    stop() {
      clearTimeout(handle as number | undefined);
      handle = undefined;
    },
  };
}

/** By how much the timers of a process that is not busy may be late, ms. */
export const ON_TIME = 2;

/**
 * Calls `run` after Node.js has read what has arrived: Node.js reads between its timers and its
 * immediates.
 */
function afterReads(run: () => void): unknown {
  return globalThis.setImmediate === undefined ? setTimeout(run, 0) : setImmediate(run);
}
