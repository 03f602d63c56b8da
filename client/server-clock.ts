/**
 * What time the server has, from what it says. A round trip brackets the server's `now` between
 * two local instants, so the midpoint is off by at most half the trip; the shortest trip is the
 * best sample (Cristian 1989). A push has no round trip: it only proves that the server's clock is
 * at least so far, which is still enough to notice that the local clock was turned back.
 *
 * A local clock that is set jumps against the monotonic one, and the server's lead follows it at
 * once. But so it does when the machine sleeps and the monotonic clock sleeps as well: hence the
 * server has to be asked, and until it answers, calls are taken to be refused too long rather than
 * not long enough.
 */
export interface Time {
  /** Epoch ms by this machine's clock. */
  now: number;
  /** Server time minus this machine's, whole ms; `NaN` while nothing is known. */
  offset: number;
}

export interface ServerClock {
  /** Whoever needs the time looks here, since every look notices whether the clock was set. */
  look(): Time;
  /** A request was answered, `duration` ms after it was sent. Returns whether the offset changed. */
  roundTrip(duration: number, serverNow: number): boolean;
  /** A message arrived by itself. Returns whether the offset changed. */
  push(serverNow: number): boolean;
}

/** By how much the two local clocks may come apart unnoticed, ms: browsers round, up to 100. */
const TOLERANCE = 250;

/**
 * @param monotonic ms since some fixed instant, whatever the system's clock is set to.
 * @param onStep is told that the clock was set, while somebody looks.
 */
export function createServerClock(
  clock: () => number,
  monotonic: () => number,
  onStep: () => void,
): ServerClock {
  let offset = NaN;
  /** By how much `offset` may be off, ms; `Infinity` where it is only the least that it can be. */
  let doubt = Infinity;
  /** By how much the clock was ahead of the monotonic one at the last look. */
  let lead = clock() - monotonic();
  /** And when the offset was last told, which is what steps are counted from. */
  let toldLead = lead;

  function settle(next: number, nextDoubt: number): boolean {
    const before = offset;
    // Rounded down: a server believed to be behind is asked a little late, never too early.
    offset = Math.floor(next);
    doubt = nextDoubt;
    toldLead = lead;
    return offset !== before;
  }

  function look(): Time {
    const now = clock();
    lead = now - monotonic();
    const step = lead - toldLead;
    if (Math.abs(step) > TOLERANCE) {
      settle(offset - step, Infinity);
      onStep();
    }
    return { now, offset };
  }

  return {
    look,
    roundTrip(duration, serverNow) {
      const { now } = look();
      const sampleDoubt = Math.max(0, duration) / 2;
      const sample = serverNow - now + sampleDoubt;
      // Two samples that cannot both be right mean that one of the clocks was set.
      const disagrees = Math.abs(sample - offset) > sampleDoubt + doubt + 1;
      return (sampleDoubt <= doubt || disagrees) && settle(sample, sampleDoubt);
    },
    push(serverNow) {
      const atLeast = serverNow - look().now;
      const isKnown = atLeast <= offset + (doubt === Infinity ? 0 : doubt + 1);
      return !isKnown && settle(atLeast, Infinity);
    },
  };
}
