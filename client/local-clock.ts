/**
 * This machine's time, and whether its clock was set. A clock that is set jumps against the
 * monotonic one; so it does when the machine sleeps, where the monotonic clock sleeps as well.
 */

/** One instant, on both of this machine's clocks. */
export interface Time {
  /** Epoch ms. */
  now: number;
  /** ms since some fixed instant, whatever the system's clock is set to. */
  monotonic: number;
}

/** By how much the two may come apart without a word, ms: browsers round them, up to 100. */
const TOLERANCE = 250;

/**
 * @param onStep is told by how many ms the clock has jumped forward, before anybody gets to see
 * the new time.
 */
export function createLocalClock(
  clock: () => number,
  monotonic: () => number,
  onStep: (ms: number) => void,
): () => Time {
  let lead = clock() - monotonic();
  return () => {
    const time = { now: clock(), monotonic: monotonic() };
    const step = time.now - time.monotonic - lead;
    if (Math.abs(step) > TOLERANCE) {
      lead += step;
      onStep(step);
    }
    return time;
  };
}
