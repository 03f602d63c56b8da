/**
 * A timer that keeps running while nothing waits for it. Setting and clearing one per call would be
 * a large part of what a call costs.
 */
export interface LazyTimer {
  /** Something waits for the timer: it keeps the process alive. */
  ref(): void;
  /** Nothing waits for the timer: it does not keep the process alive. */
  unref(): void;
}

/** In edge runtimes timers are numbers, and there is no process to keep alive. */
export function lazyTimer(run: () => void, ms: number): LazyTimer {
  const timer: unknown = setTimeout(run, ms);
  const isObject = typeof timer === "object" && timer !== null && "unref" in timer;
  return isObject ? (timer as LazyTimer) : { ref() {}, unref() {} };
}
