/**
 * Credits: tokens that do not come by themselves. A balance begins at 0, `credit()` raises it, and
 * calls take from it. To the arithmetic, credits are a token bucket with a rate of 0. The row:
 *
 * - `used`: the balance, and not what was used. Below 0: what `charge()` took beyond the balance.
 * - `ts`: when the row was last written.
 *
 * A missing row is a balance of 0. So a row is "full", and `prune` may delete it, at exactly 0.
 */
import type { Bucket } from "../config.js";
import type { CreditsConfig, RateLimitConfig } from "../limit-config.js";

/** Whether the bucket is a balance of credits. */
export function isCredits<TConfig extends { kind: string }>(
  config: TConfig,
): config is Extract<TConfig, { kind: "credits" }> {
  return config.kind === "credits";
}

/** The most tokens of a balance: above 2^53, doubles do not hold every whole number. */
export const MOST_CREDITS = 2 ** 53;

/** The period of credits. No period changes a result, because the rate is 0. */
export const CREDITS_PERIOD = 1;

/** The config as the arithmetic takes it: for credits, every number is filled in. */
export function bucketConfig(config: RateLimitConfig | CreditsConfig): Bucket {
  if (config.kind !== "credits") return config;
  return { capacity: MOST_CREDITS, ...config, rate: 0, period: CREDITS_PERIOD };
}
