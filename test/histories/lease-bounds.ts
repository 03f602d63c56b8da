/**
 * Checks what limits with leases promise. Between any two instants, no more is granted than the capacity
 * and what refills between them. While callers want more than refills, a share of the refill is granted.
 * Each call has an interval, from its start to its answer. A call counts in a span only if its interval
 * lies within the span, so uncertain times accuse no correct limiter. With exact times (`start` equals
 * `end`), the check is exact.
 */
import { MaxSuffix } from "./max-suffix.js";

/** An event of one bucket. Times are ms of one clock. */
export interface BucketEvent {
  /**
   * `refund` also stands for `settle` downward, and `charge` for `settle` upward. `reserved` are
   * tokens that were not there yet. The `count` of a `reset` is the capacity.
   */
  kind: "grant" | "denial" | "refund" | "charge" | "reserved" | "reset";
  count: number;
  /** The time of the call. */
  start: number;
  /** The time of the answer. `Infinity`: it took effect at any time after `start`, or never. */
  end: number;
}

/** The most that a bucket may grant. */
export interface Bounds {
  /** The most tokens that are granted at one instant. */
  capacity: number;
  /** The tokens that have come from some fixed instant to `at`. */
  supply(at: number): number;
  /** Until when a process may serve a block that was taken at `at`. */
  livesUntil(at: number): number;
}

export interface BoundedLimit {
  kind: "token bucket" | "fixed window";
  rate: number;
  period: number;
  capacity?: number;
  start?: number;
  /** How long a block lives, ms. 0: there are no leases. A block of a window ends with the window. */
  leaseMs: number;
  /** How far the time of a decision may be from the clock of the events, ms. @default 0 */
  clockError?: number;
}

/** A span in which too much was granted. */
export interface Excess {
  from: number;
  to: number;
  granted: number;
  allowed: number;
}

export function boundsOf(limit: BoundedLimit): Bounds {
  const { kind, rate, period, capacity = rate, start = 0, leaseMs } = limit;
  if (kind === "token bucket") {
    return {
      capacity,
      supply: (at) => (at * rate) / period,
      livesUntil: (at) => at + leaseMs,
    };
  }
  const windowAt = (at: number) => Math.floor((at - start) / period);
  return {
    capacity,
    supply: (at) => windowAt(at) * rate,
    // The block ends with the window: just before the next window, which it must not affect.
    livesUntil: (at) =>
      leaseMs === 0 || at === Infinity ? at : start + (windowAt(at) + 1) * period - 1e-6,
  };
}

/**
 * Finds a span from `from` to `to` in which more was granted than the sum of `capacity`, the tokens that
 * came between the two, and the tokens that were given back.
 *
 * - Tokens that are given back count in every span in which that may have happened. A reset counts for as
 *   long as a block lives, because the blocks of other processes live on.
 * - A debt counts against later grants when the blocks that were taken before it have ended.
 *
 * @param clockError how far the time of a decision may be from the clock of the events, ms.
 */
export function findExcess(
  events: readonly BucketEvent[],
  { capacity, supply, livesUntil }: Bounds,
  clockError = 0,
): Excess | undefined {
  const grants = events.filter(({ kind }) => kind === "grant").sort((a, b) => a.start - b.start);
  const starts = grants.map(({ start }) => start);
  // The value at a start is the sum of the grants from that start on, and of all tokens that had come
  // before it.
  const spans = new MaxSuffix(starts.length);
  /** In the order in which the events begin to count. A span that ends at an event includes the event. */
  const steps = events
    .filter(({ kind }) => kind !== "denial")
    .map((event) => ({ event, at: countsFrom(event) }))
    .filter(({ at }) => at < Infinity)
    .sort((a, b) => a.at - b.at || ORDER[a.event.kind] - ORDER[b.event.kind]);
  const indexes = new Map(grants.map((grant, index) => [grant, index]));
  let chargedAt = -Infinity;
  for (const { event, at } of steps) {
    const { kind, count, start, end } = event;
    if (kind === "grant") {
      const index = indexes.get(event)!;
      spans.add(index, count);
      spans.weigh(index, supply(start - clockError));
      // The block of this grant may be older than a charge.
      if (start <= chargedAt) continue;
      const allowed = capacity + supply(end + clockError);
      if (spans.max <= allowed + 1e-6) continue;
      const from = starts[spans.maxIndex]!;
      const came = supply(from - clockError);
      return { from, to: end, granted: spans.max - came, allowed: allowed - came };
    }
    if (isDebt(kind)) {
      chargedAt = at;
      spans.add(lastAtMost(starts, start), count);
    } else {
      const until = kind === "reset" ? livesUntil(end) : end;
      spans.add(lastAtMost(starts, until + clockError), -count);
    }
  }
  return undefined;

  function countsFrom({ kind, start, end }: BucketEvent): number {
    if (kind === "grant") return end;
    return isDebt(kind) ? livesUntil(end) + clockError : start - clockError;
  }
}

/** At one instant, tokens that are given back come first. */
const ORDER = { refund: 0, reset: 0, grant: 1, denial: 1, charge: 2, reserved: 2 };

/** Whether the tokens are taken from tokens that come later. */
function isDebt(kind: BucketEvent["kind"]): boolean {
  return kind === "charge" || kind === "reserved";
}

/** The index of the last of these sorted numbers that is at most `bound`, or -1. */
function lastAtMost(sorted: readonly number[], bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= bound) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A span in which calls were denied all the time. */
export interface Demand {
  from: number;
  to: number;
  /** The tokens that came in the span. */
  came: number;
  /** The tokens that were taken in the span, and not given back. */
  taken: number;
}

/**
 * The spans in which callers wanted more than came: calls were denied, with no more than `gap` ms between
 * two denials. Calls whose interval only touches the span count as taken in it.
 */
export function findDemand(
  events: readonly BucketEvent[],
  { supply }: Bounds,
  gap: number,
): Demand[] {
  const denials = events.filter(({ kind }) => kind === "denial").sort((a, b) => a.end - b.end);
  const spans: Demand[] = [];
  for (const { end } of denials) {
    const last = spans.at(-1);
    if (last !== undefined && end - last.to <= gap) last.to = end;
    else spans.push({ from: end, to: end, came: 0, taken: 0 });
  }
  // An event that ended before a span also started before the span's end.
  const used = events.filter(({ kind }) => kind !== "denial");
  const started = runningSum(used, ({ start }) => start);
  const ended = runningSum(used, ({ end }) => end);
  for (const span of spans) {
    span.came = supply(span.to) - supply(span.from);
    span.taken = started.sumAtMost(span.to) - ended.sumAtMost(span.from);
  }
  return spans.filter(({ from, to }) => to > from);
}

/** The tokens that were taken by the events up to an instant. */
function runningSum(events: readonly BucketEvent[], timeOf: (event: BucketEvent) => number) {
  const sorted = events.toSorted((a, b) => timeOf(a) - timeOf(b));
  const times = sorted.map(timeOf);
  let sum = 0;
  const sums = sorted.map(({ kind, count }) => {
    sum += kind === "grant" || isDebt(kind) ? count : -count;
    return sum;
  });
  return { sumAtMost: (at: number) => sums[lastAtMost(times, at)] ?? 0 };
}
