/**
 * The clocks by which a block ends: the first of them that reaches its end counts. Each of them alone
 * would let a block live on: the monotonic clock may stand still while the machine sleeps, and the
 * other two can be set back.
 */
export interface LeaseClocks {
  /** ms, since any instant. */
  monotonic(): number;
  /** This machine's time, epoch ms. */
  wall(): number;
  /** The limiter's time, epoch ms: that of the store's database, or an injected one. */
  limiter(): number;
  /** By how much that may be behind, ms. */
  behind(): number;
}

/** The same instant on all clocks. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
  readonly limiter: number;
}

/**
 * Read at each call, because tests replace these globals. An injected clock that throws ends blocks:
 * they are looked at where no call would get the error.
 */
export function realClocks(clock: () => number, behind: () => number = () => 0): LeaseClocks {
  const limiter = () => {
    try {
      return clock();
    } catch {
      return NaN;
    }
  };
  return { monotonic: () => performance.now(), wall: () => Date.now(), limiter, behind };
}

/** Whether no clock has reached the instant. */
export function isBefore(clocks: LeaseClocks, end: Instant): boolean {
  return (
    clocks.monotonic() < end.monotonic && clocks.wall() < end.wall && clocks.limiter() < end.limiter
  );
}
