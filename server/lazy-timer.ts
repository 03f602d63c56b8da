/**
 * A timer that is left running while nothing waits for it: to set and to clear one per call would
 * be a good part of what a call costs.
 */
export interface LazyTimer {
  /** Something waits for it: it keeps the process alive. */
  ref(): void;
  /** Nothing waits for it: it does not, and does nothing when it fires. */
  unref(): void;
}

/** Where timers are numbers, as in workers of the edge, there is no process to keep alive. */
export function lazyTimer(run: () => void, ms: number): LazyTimer {
  const timer: unknown = setTimeout(run, ms);
  const isObject = typeof timer === "object" && timer !== null && "unref" in timer;
  return isObject ? (timer as LazyTimer) : { ref() {}, unref() {} };
}
