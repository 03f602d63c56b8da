/** Validates the config of a limit. Its errors name the option that is wrong. */
import {
  type FixedWindowConfig,
  MAX_SHARDS,
  MAX_WAIT,
  type RateLimitConfig,
  type TokenBucketConfig,
} from "./config.js";
import { describe, RateLimitConfigError } from "./errors.js";

/**
 * Validates a config once, at construction, so that the arithmetic can rely on it.
 *
 * @param path the name of the config in messages, such as `limits.sendMessage`.
 * @throws RateLimitConfigError quoting the option and its value.
 */
export function validateConfig(config: RateLimitConfig, path = "config"): void {
  if (typeof config !== "object" || config === null) {
    throw new RateLimitConfigError(path, config, "a rate limit config");
  }
  for (const [option, value] of Object.entries<unknown>({ ...config })) {
    if (OPTIONS.has(option)) continue;
    const known = [...OPTIONS].join(", ");
    throw new RateLimitConfigError(`${path}.${option}`, value, {
      message: `${path}.${option} is not an option, got ${describe(value)}; use ${known}`,
    });
  }
  const { kind, rate, period, capacity = rate, maxReserved = 0, shards = 1 } = config;
  // Also of a token bucket: in plain JavaScript it may have one.
  const { start = 0 } = config as { start?: unknown };
  const demand = (holds: boolean, option: string, value: unknown, requirement: string) => {
    if (!holds) throw new RateLimitConfigError(`${path}.${option}`, value, requirement);
  };
  demand(KINDS.has(kind), "kind", kind, '"token bucket" or "fixed window"');
  demand(isFinite(rate) && rate > 0, "rate", rate, "a finite number above 0");
  demand(isWhole(period) && period > 0, "period", period, "a whole number of ms above 0");
  demand(isFinite(capacity) && capacity >= 0, "capacity", capacity, AT_LEAST_0);
  demand(isFinite(maxReserved) && maxReserved >= 0, "maxReserved", maxReserved, AT_LEAST_0);
  const oneOrMore = isWhole(shards) && shards >= 1 && shards <= MAX_SHARDS;
  demand(oneOrMore, "shards", shards, `a whole number from 1 to ${MAX_SHARDS}`);
  demand(isWhole(start), "start", start, "a whole number of ms");
  const startless = kind === "fixed window" || (config as { start?: unknown }).start === undefined;
  demand(startless, "start", start, "left out of a token bucket, which has no windows");
  const slowest = ((capacity + maxReserved) / rate) * period;
  demand(slowest <= MAX_WAIT, "rate", rate, "enough to refill capacity and maxReserved in 2^52 ms");
  const passable = capacity > 0 || config.maxReserved !== 0;
  demand(
    passable,
    "capacity",
    capacity,
    "above 0 where maxReserved is 0, or no call could ever pass",
  );
}

const AT_LEAST_0 = "a finite number of at least 0";
const isFinite = (value: unknown): boolean => Number.isFinite(value);
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
const OPTIONS: ReadonlySet<string> = new Set<keyof TokenBucketConfig | keyof FixedWindowConfig>([
  "kind",
  "rate",
  "period",
  "capacity",
  "maxReserved",
  "shards",
  "start",
]);
const KINDS: ReadonlySet<unknown> = new Set(["token bucket", "fixed window"]);
