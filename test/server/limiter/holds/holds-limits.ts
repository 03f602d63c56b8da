/** The limits of random programs with holds: some with plans, some without, and credits. */
import type { Bucket } from "../../../../core/config.js";
import { bucketConfig } from "../../../../core/rows/credits.js";

/** All sums of these are exact. */
export const STEP = 2 ** 12;
export const PERIOD = 16 * STEP;

const bucket = (rate: number, more: object = {}) =>
  ({ kind: "token bucket", rate, period: PERIOD, holds: true, ...more }) as const;
const window = (rate: number, more: object = {}) =>
  ({ kind: "fixed window", rate, period: PERIOD, start: 0, holds: true, ...more }) as const;
const month = (rate: number) => ({ ...window(rate), period: "month" }) as const;

export const PLANS = ["free", "plus", "pro"] as const;
export type Plan = (typeof PLANS)[number];
/** What is said without a plan, such as the end of a hold, goes by the largest one. */
export const LARGEST = "pro";

/** The limits of one config. */
const PLAIN = {
  small: bucket(4, { capacity: 8, maxReserved: 4 }),
  rollover: window(4, { capacity: 8, maxReserved: 2 }),
  credits: { kind: "credits", holds: true },
} as const;

/** The limits that have a config for each plan. */
const PLANNED = {
  bucket: { free: bucket(8), plus: bucket(12), pro: bucket(16) },
  window: { free: window(8), plus: window(12), pro: window(16) },
  month: { free: month(8), plus: month(12), pro: month(16) },
} as const;

/** What the limiters are given: the same as above, by plans. */
export const LIMITS = {
  ...PLAIN,
  bucket: {
    kind: "token bucket",
    period: PERIOD,
    holds: true,
    plans: { free: 8, plus: { rate: 12 }, pro: { rate: 16, capacity: 16 } },
  },
  window: {
    kind: "fixed window",
    period: PERIOD,
    start: 0,
    holds: true,
    plans: { free: 8, plus: 12, pro: 16 },
  },
  month: {
    kind: "fixed window",
    period: "month",
    start: 0,
    holds: true,
    plans: { free: { rate: 8 }, plus: 12, pro: 16 },
  },
} as const;

export type Name = keyof typeof LIMITS;
export type Refilling = Exclude<Name, "credits">;
export const PAIRS = [
  ["bucket", "window"],
  ["small", "bucket"],
  ["window", "rollover"],
  ["rollover", "small"],
  ["month", "bucket"],
] as const satisfies [Refilling, Refilling][];

/** The same object each time, by which results of a plan are known. */
const CONFIGS = new Map<unknown, Bucket>();

export function configOf(name: Name, plan: Plan): Bucket {
  const config = hasPlans(name) ? PLANNED[name][plan] : PLAIN[name];
  if (!CONFIGS.has(config)) CONFIGS.set(config, bucketConfig(config));
  return CONFIGS.get(config)!;
}

export function hasPlans(name: Name): name is keyof typeof PLANNED {
  return name in PLANNED;
}
