/** Validates the config of credits. Its errors name the option that does not fit. */
import type { RateLimitConfig } from "./limit-config.js";
import { CREDITS_PERIOD, MOST_CREDITS } from "./credits.js";
import { describe, RateLimitConfigError } from "./errors.js";

const REASONS: Readonly<Record<string, string>> = {
  period: "credits do not refill; for tokens that come back, give a rate above 0",
  maxReserved: "no tokens are still to come, so none can be reserved",
  shards: "a balance is one row",
  blockFor: "nothing would open the balance again",
  afterBlock: "nothing would open the balance again",
  forgiveAfter: "nothing would open the balance again",
  start: "a token bucket has no windows",
  lease: "what is left of a block lapses, and credits must not",
};

/**
 * Checks what is special in the config of credits.
 *
 * @returns the config of a bucket that refills, for the other checks.
 * @throws RateLimitConfigError quoting the option and its value.
 */
export function checkCredits(config: RateLimitConfig, path: string): RateLimitConfig {
  const { capacity = MOST_CREDITS } = config;
  for (const [option, reason] of Object.entries(REASONS)) {
    const value = (config as unknown as Record<string, unknown>)[option];
    // `configOf` and snapshots give configs that are filled in.
    if (value === undefined || (option === "period" && value === CREDITS_PERIOD)) continue;
    const message =
      `${path}.${option} does not go with rate: 0, which means credits, got ${describe(value)}: ` +
      reason;
    throw new RateLimitConfigError(`${path}.${option}`, value, { message });
  }
  const isBalance = Number.isFinite(capacity) && capacity > 0 && capacity <= MOST_CREDITS;
  if (!isBalance) {
    throw new RateLimitConfigError(
      `${path}.capacity`,
      capacity,
      "above 0 and at most 2^53 for credits (rate: 0)",
    );
  }
  return { ...config, rate: capacity, period: CREDITS_PERIOD };
}
