/**
 * What time the server has, from what it says. A round trip brackets the server's `now` between
 * two local instants, so the midpoint is off by at most half the trip; the shortest trip is the
 * best sample (Cristian 1989). A push has no round trip: it only proves that the server's clock is
 * at least so far, which is still enough to notice that the local clock was turned back.
 */
export interface ServerClock {
  /** Server time minus local time, whole ms; `undefined` before the first sample. */
  readonly offset: number | undefined;
  /** How often it was told anew, be it the same. */
  readonly told: number;
  /** A request sent and answered at these local instants. Returns whether the offset changed. */
  roundTrip(sentAt: number, receivedAt: number, serverNow: number): boolean;
  /** A message that arrived by itself. Returns whether the offset changed. */
  push(receivedAt: number, serverNow: number): boolean;
  /** This machine's clock was set forward by `ms`, so far as can be told: the next trip decides. */
  step(ms: number): void;
}

export function createServerClock(): ServerClock {
  let offset: number | undefined;
  /** By how much `offset` may be off, ms. */
  let doubt = Infinity;
  let told = 0;

  function settle(next: number, nextDoubt: number): boolean {
    // Rounded down: a server believed to be behind is asked a little late, never too early.
    const before = offset;
    told++;
    offset = Math.floor(next);
    doubt = nextDoubt;
    return offset !== before;
  }

  return {
    get offset() {
      return offset;
    },
    get told() {
      return told;
    },
    roundTrip(sentAt, receivedAt, serverNow) {
      const sampleDoubt = Math.max(0, receivedAt - sentAt) / 2;
      const sample = serverNow - (sentAt + sampleDoubt);
      // Two samples that cannot both be right mean that one of the clocks was set.
      const disagrees = offset !== undefined && Math.abs(sample - offset) > sampleDoubt + doubt + 1;
      return sampleDoubt <= doubt || disagrees ? settle(sample, sampleDoubt) : false;
    },
    push(receivedAt, serverNow) {
      const atLeast = serverNow - receivedAt;
      if (offset !== undefined && atLeast <= offset + (doubt === Infinity ? 0 : doubt + 1)) {
        return false;
      }
      return settle(atLeast, Infinity);
    },
    step(ms) {
      if (offset !== undefined) settle(offset - ms, Infinity);
    },
  };
}
