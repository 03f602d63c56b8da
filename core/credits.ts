/**
 * Credits: tokens that do not come by themselves. A balance begins at 0, `credit()` raises it, and
 * calls take from it. In the rows and in the arithmetic it is a token bucket with a rate of 0.
 */
import type { Bucket } from "./config.js";

/** A balance that only `credit()` raises, such as credits that users buy. */
export interface CreditsConfig {
  /** The kind of a bucket that takes any fraction at any time. */
  kind: "token bucket";
  /** No tokens come by themselves. A bucket that no one has credited holds none. */
  rate: 0;
  /**
   * The most tokens that a balance holds: above 0, and at most 2^53. `credit()` adds no more than
   * that. To lower it takes away what is above, at the next write to the balance.
   * @default 2^53
   */
  capacity?: number;
  /** Decides and reports, and denies no call; see `shadow` of a limit. @default false */
  shadow?: boolean;
  /** The answer of `limit` and `check` in an outage; see `whenStoreFails` of a limit. @default "fail" */
  whenStoreFails?: "fail" | "allow";
  /**
   * How long a process may repeat a denial of `limit` from memory, ms; see `rememberDenials` of a
   * limit. Credits that another process adds meanwhile are seen that much later.
   * @default the limiter's `rememberDenials`
   */
  rememberDenials?: number;
  /** How long the ids of calls with `once` are remembered, ms; see `onceFor` of a limit. */
  onceFor?: number | undefined;
  /** Credits do not refill, so they have no period. */
  period?: undefined;
  /** Credits are never owed to the future: no tokens are still to come. */
  maxReserved?: undefined;
  /** A balance is one row. */
  shards?: undefined;
  /** Nothing would open the balance again. */
  blockFor?: undefined;
  /** Only with `blockFor`. */
  forgiveAfter?: undefined;
  /** The rest of a block lapses, and credits must not lapse. */
  lease?: undefined;
}

/** The most tokens of a balance: above 2^53, doubles do not hold every whole number. */
export const MOST_CREDITS = 2 ** 53;

/** Whether the bucket is a balance of credits. */
export function isCredits({ rate }: { rate: number }): boolean {
  return rate === 0;
}

/** The config as the arithmetic takes it: credits as a token bucket with every number filled in. */
export function bucketConfig(config: Bucket | CreditsConfig): Bucket {
  if (!isCredits(config)) return config as Bucket;
  return { capacity: MOST_CREDITS, ...config, period: CREDITS_PERIOD } as Bucket;
}

/** The period of credits. It changes no sum: there, it is multiplied by a rate of 0. */
export const CREDITS_PERIOD = 1;
