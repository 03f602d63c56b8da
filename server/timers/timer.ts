/**
 * Timers for the time-outs of this package. They differ from those of the platform in two ways.
 *
 * - Any number of ms is right. A `setTimeout` of 2^31 ms or more, or of `Infinity`, ends at once.
 * - A process that is busy for long can neither send statements nor read answers. Its timers are late
 *   then, and run before the answers that have arrived meanwhile are read. So a timer that is late
 *   waits once more, for the time by which it is late, and every timer lets answers be read first.
 */
import { MAX_TIMEOUT } from "../../core/durations.js";

export interface Timer {
  /** Something waits for the timer: it keeps the process alive. So does a new timer. */
  ref(): void;
  /** Nothing waits for the timer: it does not keep the process alive. */
  unref(): void;
  /** Ends the timer. Does nothing if it has ended. */
  stop(): void;
}

/**
 * Calls `run` after `ms`, or up to twice as late as a busy process can.
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

  /** In edge runtimes timers are numbers, and there is no process to keep alive. */
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

/** Between its timers and its immediates, Node.js reads what has arrived. */
function afterReads(run: () => void): unknown {
  return globalThis.setImmediate === undefined ? setTimeout(run, 0) : setImmediate(run);
}
