/**
 * A limit as a visitor chooses it. The form, the address and the server take the same choices, and
 * refuse the others with the same words.
 */
import {
  RateLimitConfigError,
  type RateLimitConfig,
  type ShownConfig,
  validateConfig,
} from "trpc-rate-limit";
import { BOUNDS } from "./limits.js";

/** Times are in ms. */
export interface PlaygroundChoice {
  kind: "token bucket" | "fixed window";
  rate: number;
  /** `"month"`, for a fixed window: the months of the calendar, in UTC. */
  period: number | "month";
  capacity: number;
  shards: number;
  /** Left out for no block. */
  blockFor?: number | undefined;
}

/** @throws RateLimitConfigError with a message that the page shows. */
export function configOfChoice(choice: PlaygroundChoice): RateLimitConfig {
  for (const option of ["rate", "period", "capacity", "shards", "blockFor"] as const) {
    const value = choice[option];
    const { min, max } = BOUNDS[option];
    if (value === undefined || value === "month" || (value >= min && value <= max)) continue;
    const range = `from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
    throw new RateLimitConfigError(option, value, range);
  }
  const { kind, rate, period, capacity, shards, blockFor } = choice;
  const config = {
    kind,
    rate,
    period,
    // Months start on the first.
    ...(period === "month" && { start: 0 }),
    capacity,
    shards,
    // Without a bound, reservations could owe tokens for years.
    maxReserved: capacity,
    ...(blockFor !== undefined && { blockFor }),
  } as RateLimitConfig;
  validateConfig(config, "limit");
  return config;
}

export function isValidChoice(choice: PlaygroundChoice): boolean {
  try {
    configOfChoice(choice);
    return true;
  } catch {
    return false;
  }
}

/** The choice that leads to a config of the playground. */
export function choiceOfConfig(config: RateLimitConfig | ShownConfig): PlaygroundChoice {
  const { kind, rate, period, capacity = rate, shards = 1, blockFor } = config;
  return {
    // The kind is never credits.
    kind: kind === "fixed window" ? kind : "token bucket",
    rate,
    period: period === "month" ? period : Number(period),
    capacity,
    shards,
    ...(blockFor !== undefined && { blockFor: Number(blockFor) }),
  };
}

export function isSameChoice(a: PlaygroundChoice, b: PlaygroundChoice): boolean {
  const { kind, rate, period, capacity, shards, blockFor } = a;
  return (
    kind === b.kind &&
    rate === b.rate &&
    period === b.period &&
    capacity === b.capacity &&
    shards === b.shards &&
    blockFor === b.blockFor
  );
}
