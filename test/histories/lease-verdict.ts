/** Checks all buckets of a recorded history of leases. */
import { type BucketEvent, boundsOf, type Excess, findDemand, findExcess } from "./lease-bounds.js";
import type { LeasedLimit, RecordedEvent } from "./lease-caller.js";
import { boundedBy } from "./lease-limits.js";

export interface LeaseVerdict {
  /** Buckets that have granted too much, each with its span. */
  excesses: (Excess & { bucket: string })[];
  grants: number;
  denials: number;
  /** By bucket: which share of the refill was taken, while callers wanted more. */
  shares: Map<string, number>;
}

/** @param clockErrorOf how far a process may be from the clock of the database, ms. */
export function checkLeaseHistory(
  history: readonly RecordedEvent[],
  limits: Readonly<Record<string, LeasedLimit>>,
  clockErrorOf: (limit: LeasedLimit[0]) => number,
): LeaseVerdict {
  const verdict: LeaseVerdict = { excesses: [], grants: 0, denials: 0, shares: new Map() };
  const byBucket = new Map<string, RecordedEvent[]>();
  for (const event of history) {
    const bucket = `${event.name} ${event.key}`;
    const events = byBucket.get(bucket);
    if (events === undefined) byBucket.set(bucket, [event]);
    else events.push(event);
  }
  for (const [bucket, events] of byBucket) {
    const { name, key } = events[0]!;
    const limit = limits[name]!;
    const bounds = boundsOf(boundedBy(key === "tiers" ? limit : limit.slice(0, 1)));
    const clockError = clockErrorOf(limit[0]);
    const note = (excess: Excess | undefined) => {
      if (excess !== undefined) verdict.excesses.push({ ...excess, bucket });
    };
    note(findExcess(events, bounds, clockError));
    if (key === "owed") {
      const capacity = bounds.capacity + (limit[0].maxReserved ?? 0);
      note(findExcess(withReserved(events), { ...bounds, capacity }, clockError));
    }
    for (const { kind } of events) {
      if (kind === "grant") verdict.grants++;
      if (kind === "denial") verdict.denials++;
    }
    if (key !== "plain" && key !== "steady") continue;
    const spans = findDemand(events, bounds, 1000);
    const came = spans.reduce((sum, span) => sum + span.came, 0);
    const taken = spans.reduce((sum, span) => sum + span.taken, 0);
    if (came > 0) verdict.shares.set(bucket, taken / came);
  }
  return verdict;
}

/** Treats reserved tokens as granted. Leaves out `charge`, which takes tokens even if there are too few. */
function withReserved(events: readonly RecordedEvent[]): BucketEvent[] {
  return events
    .filter(({ kind }) => kind !== "charge")
    .map((event) => (event.kind === "reserved" ? { ...event, kind: "grant" } : event));
}
