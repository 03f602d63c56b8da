/**
 * The clocks by which a block ends. The block ends when the first of the clocks reaches its end. With one
 * clock alone, a block could live on: the monotonic clock may stand still while the machine sleeps, and
 * the other two clocks can be set back.
 */
export interface LeaseClocks {
  /** ms, since any instant. */
  monotonic(): number;
  /** This machine's time, epoch ms. */
  wall(): number;
  /** The limiter's time, epoch ms: that of the store's database, or an injected one. */
  limiter(): number;
  /** By how much the limiter's time may be behind the time of the database, ms. */
  behind(): number;
}

/** The same instant on all clocks. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
  readonly limiter: number;
}

/**
 * Reads the globals at each call, because tests replace them. An injected clock that throws is NaN here,
 * and so ends all blocks: no call would get the error where blocks are looked at.
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
