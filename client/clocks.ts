/**
 * Everything that judges clocks: whether one was set, whether the machine has slept, what time the
 * server has, and how long a wait still is.
 *
 * This machine has two clocks. The wall clock can be set at any time. The monotonic clock cannot,
 * but on many systems it stands still while the machine sleeps. So the two come apart in both cases,
 * and no difference between them says which case it was. Each constant and function below takes the
 * reading that does the least harm where it is wrong.
 */

export interface Time {
  /** Epoch ms by this machine's clock. */
  now: number;
  /** Server time minus this machine's, whole ms; `NaN` while nothing is known. */
  offset: number;
  /** How far `offset` may be off, ms; `Infinity` where it is only a lower bound. */
  uncertainty: number;
}

export interface ServerClock {
  /** Reads the clock. Every read notices whether the clock was set, so read it for each use. */
  read(): Time;
  /** A request was answered, `duration` ms after it was sent. Returns whether the offset changed. */
  roundTrip(duration: number, serverNow: number): boolean;
  /** A message arrived by itself. Returns whether the offset changed. */
  push(serverNow: number): boolean;
}

/** How far the two clocks come apart by rounding to whole ms, ms at most. */
const ROUNDING = 10;
/** A jump by more means that the wall clock was set, ms. Some browsers round to 100 ms. */
const STEP = 250;
/** A wall clock that is ahead by more means that the machine slept, ms: nothing else drifts so far. */
const SLEEP = 5000;
/** A timer that took longer slept with its machine, ms. Hidden pages run their timers once a minute. */
export const SLEPT_TIMER = 90_000;

/**
 * Estimates the server's time from what the server says. A round trip brackets the server's `now`
 * between two local instants, so the midpoint is off by at most half the trip; the shortest trip is
 * the best sample (Cristian 1989). A push has no round trip. A push only proves that the server's clock
 * is at least so far, which is enough to notice that the local clock was turned back.
 *
 * When the wall clock steps against the monotonic clock, the offset follows at once. That is wrong
 * after a sleep, so `onStep` has to ask the server. Until the answer comes, calls are predicted to
 * be denied for too long rather than not long enough.
 *
 * @param monotonic ms since some fixed instant, whatever the system's clock is set to.
 * @param onStep called when a read notices that the clock was set.
 */
export function createServerClock(
  clock: () => number,
  monotonic: () => number,
  onStep: () => void,
): ServerClock {
  let offset = NaN;
  let uncertainty = Infinity;
  /**
   * The wall clock minus the monotonic clock at the last read; `NaN` before the first read. The clocks
   * are not read here: a server that renders a page ahead of time may not read clocks.
   */
  let skew = NaN;
  /** The skew when the offset was last corrected. Steps are counted from there. */
  let correctedSkew = NaN;

  function correct(nextOffset: number, nextUncertainty: number): boolean {
    const before = offset;
    // Rounded down: a server whose clock is believed to be behind is asked a little late, never too early.
    offset = Math.floor(nextOffset);
    uncertainty = nextUncertainty;
    correctedSkew = skew;
    return offset !== before;
  }

  function read(): Time {
    const now = clock();
    skew = now - monotonic();
    if (Number.isNaN(correctedSkew)) correctedSkew = skew;
    const step = skew - correctedSkew;
    if (Math.abs(step) > STEP) {
      correct(offset - step, Infinity);
      onStep();
    }
    return { now, offset, uncertainty };
  }

  return {
    read,
    roundTrip(duration, serverNow) {
      const { now } = read();
      const half = Math.max(0, duration) / 2;
      const sample = serverNow - now + half;
      // Two samples that cannot both be right mean that one of the clocks was set.
      const disagrees = Math.abs(sample - offset) > half + uncertainty + 1;
      return (half <= uncertainty || disagrees) && correct(sample, half);
    },
    push(serverNow) {
      const atLeast = serverNow - read().now;
      const isKnown = atLeast <= offset + (uncertainty === Infinity ? 0 : uncertainty + 1);
      return !isKnown && correct(atLeast, Infinity);
    },
  };
}

/**
 * The server's time from now on, from one message of the server. Follows the monotonic clock, and
 * the wall clock after a sleep. A wall clock that was set forward is taken for a sleep: the cost is
 * one call that the server denies.
 */
export function serverTime(
  serverNow: number,
  clock: () => number,
  monotonic: () => number,
): () => number {
  const [ahead, apart] = [serverNow - monotonic(), serverNow - clock()];
  return () => {
    const steady = monotonic() + ahead;
    const now = clock() + apart;
    return now > steady + SLEEP ? now : steady;
  };
}

/**
 * The rest of a wait, ms, until an instant on this machine's clock. The wait ends by the clock that
 * reaches the instant first: the monotonic clock may sleep, and the wall clock may be put back. So
 * neither clock makes the wait longer.
 */
export function createWait(until: number): () => number {
  const end = steadyNow() + until - Date.now() + ROUNDING;
  return () => Math.min(until - Date.now(), end - steadyNow());
}

function steadyNow(): number {
  return Math.floor(performance.now());
}
