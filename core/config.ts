/**
 * What a limit is: how fast tokens come and how many may be held. The two kinds and the names of
 * their options are those of Convex's rate limiter.
 */
import { RateLimitConfigError } from "./errors.js";

interface CommonConfig {
  /** Tokens added per `period`. Finite and above 0; fractions are fine (`1 / 3`). */
  rate: number;
  /** Length of a period in whole ms, at least 1. See `SECOND`, `MINUTE`, `HOUR`, `DAY`. */
  period: number;
  /**
   * The most tokens that can be held, so the largest burst. Finite and at least 0; at 0 every
   * call needs `reserve`.
   * @default rate
   */
  capacity?: number;
  /**
   * The most tokens that `reserve` may owe to the future. Finite and at least 0; 0 allows no
   * reservation.
   * @default unlimited
   */
  maxReserved?: number;
  /**
   * How many rows share the limit, each with an equal part of its rate and capacity. Whole, 1 to
   * 1,000. More shards spread contention; a call sees two of them.
   * @default 1
   */
  shards?: number;
}

/** Tokens come continuously, `rate` every `period`, and pile up to `capacity`. */
export interface TokenBucketConfig extends CommonConfig {
  kind: "token bucket";
}

/** `rate` tokens come at the start of each window of `period`, and pile up to `capacity`. */
export interface FixedWindowConfig extends CommonConfig {
  kind: "fixed window";
  /**
   * An instant at which a window starts, epoch ms; the others follow in steps of `period`. Whole
   * and finite; `0` aligns daily windows with midnight UTC.
   * @default an offset derived from name and key, to keep limits from all refilling at once
   */
  start?: number;
}

export type RateLimitConfig = TokenBucketConfig | FixedWindowConfig;

/** The most shards that a limit can have: `getValue` and `reset` read all of them. */
export const MAX_SHARDS = 1000;

/**
 * The longest wait that can be told exactly, 2^52 ms or 142,000 years: added to any date, it stays
 * within the integers that a double holds. A limit slower than that is a mistake.
 */
export const MAX_WAIT = 2 ** 52;

/** The most tokens that a bucket of this config holds. */
export function capacityOf(config: RateLimitConfig): number {
  return config.capacity ?? config.rate;
}

/**
 * The most tokens that may be owed: `maxReserved`, or what can be repaid within {@link MAX_WAIT}
 * by a bucket that then fills up as well.
 */
export function reservableOf(config: RateLimitConfig): number {
  if (config.maxReserved !== undefined) return config.maxReserved;
  const periods =
    Math.floor(MAX_WAIT / config.period) - Math.ceil(capacityOf(config) / config.rate);
  return Math.max(0, periods) * config.rate;
}

/** One shard's part of the limit, itself the config of an unsharded limit. */
export function shardConfig(config: RateLimitConfig): RateLimitConfig {
  if (config.shards === undefined || config.shards === 1) return config;
  const { shards, ...whole } = config;
  const part = { ...whole, rate: whole.rate / shards, capacity: capacityOf(config) / shards };
  return whole.maxReserved === undefined
    ? part
    : { ...part, maxReserved: whole.maxReserved / shards };
}

/**
 * Checks a config once, at construction, so that the arithmetic can trust it.
 *
 * @param path how the message names the config, such as `limits.sendMessage`.
 * @throws RateLimitConfigError quoting the option and its value.
 */
export function validateConfig(config: RateLimitConfig, path = "config"): void {
  if (typeof config !== "object" || config === null) {
    throw new RateLimitConfigError(path, config, "a rate limit config");
  }
  for (const option of Object.keys(config)) {
    if (OPTIONS.has(option)) continue;
    const value = (config as unknown as Record<string, unknown>)[option];
    const known = [...OPTIONS].join(", ");
    throw new RateLimitConfigError(
      `${path}.${option}`,
      value,
      `left out: the options are ${known}`,
    );
  }
  const { kind, rate, period, capacity = rate, maxReserved = 0, shards = 1 } = config;
  // Looked up rather than destructured: a token bucket from plain JavaScript may carry one too.
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
  demand(startless, "start", start, "left to fixed windows: a token bucket has no windows");
  const slowest = ((capacity + maxReserved) / rate) * period;
  demand(slowest <= MAX_WAIT, "rate", rate, "enough to refill capacity and maxReserved in 2^52 ms");
  const passable = capacity > 0 || config.maxReserved !== 0;
  demand(passable, "capacity", capacity, "above 0 where maxReserved is 0: no call could ever pass");
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
