/** The limits of histories with leases, and the bounds that their buckets must keep. */
import type { RateLimitConfig } from "../../server/index.js";
import type { BoundedLimit } from "./lease-bounds.js";
import type { LeasedLimit } from "./lease-caller.js";

const SECOND = 1000;

/** By name. The second config of each limit is that of another plan, with another lease. */
export const LEASED = {
  bucket: [
    {
      kind: "token bucket",
      rate: 100,
      period: SECOND,
      capacity: 200,
      maxReserved: 50,
      lease: { ms: 400 },
    },
    { kind: "token bucket", rate: 200, period: SECOND, capacity: 400, lease: { ms: 300 } },
  ],
  lasting: [
    {
      kind: "token bucket",
      rate: 40,
      period: SECOND,
      capacity: 160,
      maxReserved: 40,
      lease: { ms: 1500 },
    },
    { kind: "token bucket", rate: 60, period: SECOND, capacity: 120, lease: { ms: 500 } },
  ],
  window: [
    {
      kind: "fixed window",
      rate: 150,
      period: 2 * SECOND,
      start: 0,
      maxReserved: 40,
      lease: { ms: 800 },
    },
    { kind: "fixed window", rate: 300, period: 2 * SECOND, start: 0, lease: { ms: 400 } },
  ],
} satisfies Record<string, LeasedLimit>;

export const NAMES = Object.keys(LEASED) as (keyof typeof LEASED)[];

/** The limits of a limiter: the first config of each name. */
export const LIMITS = Object.fromEntries(NAMES.map((name) => [name, LEASED[name][0]]));

/** The bounds of a bucket that is used with any of these configs. */
export function boundedBy(configs: readonly RateLimitConfig[]): BoundedLimit {
  const each = configs.map(({ kind, rate, period, capacity = rate, lease }) => {
    const perMs = rate / Number(period);
    const leaseMs = lease?.ms ?? 0;
    // The most that a row and a block have together, just after the block was taken from the row.
    const beside = kind === "fixed window" ? capacity : capacity - perMs * leaseMs;
    return { perMs, leaseMs, beside, capacity };
  });
  const most = (of: (config: (typeof each)[number]) => number) => Math.max(...each.map(of));
  const [first] = configs as [RateLimitConfig];
  const { kind } = first;
  const { start = 0 } = first.kind === "fixed window" ? first : {};
  const period = Number(first.period);
  const leaseMs = most((config) => config.leaseMs);
  const perMs = most((config) => config.perMs);
  // While a block of one config lives, a call with another config refills the row.
  const refilled = most(({ beside }) => beside) + perMs * leaseMs;
  const largest = most((config) => config.capacity);
  const capacity = kind === "fixed window" ? largest : Math.max(largest, refilled);
  return { kind, rate: perMs * period, period, capacity, leaseMs, start };
}
