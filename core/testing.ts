/** Helpers for tests of applications that limit: a clock that moves only when told to. */

/** A clock to pass as `clock`, in epoch ms. */
export interface ManualClock {
  (): number;
  /** Moves the clock by `ms`, backwards where negative. */
  advance(ms: number): void;
  /** Puts the clock at `now`, epoch ms. */
  set(now: number): void;
}

/**
 * A clock that stands still until it is moved.
 *
 * @param start epoch ms. @default 2030-01-01T00:00:00Z, so that no test depends on today.
 */
export function createManualClock(start: number = Date.UTC(2030, 0, 1)): ManualClock {
  let now = start;
  return Object.assign(() => now, {
    advance(ms: number) {
      now += ms;
    },
    set(value: number) {
      now = value;
    },
  });
}
