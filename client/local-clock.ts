/**
 * This machine's time, and whether its clock was set. A clock that is set jumps against the
 * monotonic one, and the server's lead follows it at once. But so it does when the machine sleeps
 * and the monotonic clock sleeps as well: hence the server has to be asked, and until it answers,
 * calls are taken to be refused too long rather than not long enough.
 */
import type { ServerClock } from "./server-clock.js";

/** One instant, on all the clocks. */
export interface Time {
  /** Epoch ms, this machine's. */
  now: number;
  /** ms since some fixed instant, whatever the system's clock is set to. */
  monotonic: number;
  /** Server time minus this machine's, ms; `undefined` while nothing is known. */
  offset: number | undefined;
}

/** By how much the two may come apart without a word, ms: browsers round them, up to 100. */
const TOLERANCE = 250;

/** @param onStep is told that the clock was set; it must not look at the time by itself. */
export function createLocalClock(
  clock: () => number,
  monotonic: () => number,
  serverClock: ServerClock,
  onStep: () => void,
): () => Time {
  /** By how much the clock was ahead of the monotonic one at the last look. */
  let seen = clock() - monotonic();
  /** And when the server's lead was last told, which is what steps are counted from. */
  let lead = seen;
  let told = serverClock.told;
  return () => {
    // Whole ms, or what opens at one and the same ms would seem to open at another with every look.
    const [now, steady] = [Math.floor(clock()), monotonic()];
    if (told !== serverClock.told) lead = seen;
    told = serverClock.told;
    seen = now - steady;
    const step = seen - lead;
    if (Math.abs(step) > TOLERANCE) {
      lead = seen;
      serverClock.step(step);
      onStep();
    }
    return { now, monotonic: steady, offset: serverClock.offset };
  };
}
