/** Validates the config of credits. Its errors name the option that does not fit. */
import type { RateLimitConfig } from "./limit-config.js";
import { CREDITS_PERIOD, MOST_CREDITS } from "./rows/credits.js";
import { describe, RateLimitConfigError } from "./errors.js";

const REASONS: Readonly<Record<string, string>> = {
  rate: 'credits do not refill; for tokens that come back, use kind: "token bucket"',
  period: 'credits do not refill; for tokens that come back, use kind: "token bucket"',
  maxReserved: "no tokens are still to come, so none can be reserved",
  shards: "a balance is one row",
  blockFor: "nothing would open the balance again",
  afterBlock: "nothing would open the balance again",
  forgiveAfter: "nothing would open the balance again",
  start: "credits have no windows",
  timeZone: "credits have no windows",
  weekStart: "credits have no windows",
  warnAt: "a balance has no capacity of which a part could be used",
  lease: "what is left of a block lapses, and credits must not",
};
/** The values that `configOf` and snapshots fill in. */
const FILLED_IN: Readonly<Record<string, number>> = { rate: 0, period: CREDITS_PERIOD };

/**
 * Checks what is special in the config of credits.
 *
 * @returns the config of a bucket that refills, for the other checks.
 * @throws RateLimitConfigError quoting the option and its value.
 */
export function checkCredits(
  config: Readonly<Record<string, unknown>>,
  path: string,
): RateLimitConfig {
  for (const [option, reason] of Object.entries(REASONS)) {
    const value = config[option];
    if (value === undefined || value === FILLED_IN[option]) continue;
    const message =
      `${path}.${option} does not go with kind: "credits", got ${describe(value)}: ` + reason;
    throw new RateLimitConfigError(`${path}.${option}`, value, { message });
  }
  const { capacity = MOST_CREDITS } = config;
  if (!(Number.isFinite(capacity) && Number(capacity) > 0 && Number(capacity) <= MOST_CREDITS)) {
    const requirement = "above 0 and at most 2^53 for credits";
    throw new RateLimitConfigError(`${path}.capacity`, capacity, requirement);
  }
  const rate = capacity as number;
  return { ...config, kind: "token bucket", rate, period: CREDITS_PERIOD };
}
