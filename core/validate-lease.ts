/** Validates the `lease` of a limit. Its errors name the option that does not fit. */
import { capacityOf, type PeriodicConfig } from "./config.js";
import type { RateLimitConfig } from "./limit-config.js";
import { describe, RateLimitConfigError } from "./errors.js";

const LEAST_MS = 10;
const MOST_MS = 60_000;

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateLease(config: RateLimitConfig, path: string): void {
  const { lease, blockFor, shards = 1, period, rate } = config;
  if (lease === undefined) return;
  if (typeof lease !== "object" || lease === null) {
    throw new RateLimitConfigError(`${path}.lease`, lease, "an object, such as { ms: 1000 }");
  }
  const { ms, ...others } = lease;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const message = `${path}.lease.${unknown} is not an option; use ms`;
    throw new RateLimitConfigError(`${path}.lease.${unknown}`, undefined, { message });
  }
  const isWhole = Number.isSafeInteger(ms) && ms >= LEAST_MS && ms <= MOST_MS;
  if (!isWhole) {
    const problem = `a whole number of ms from ${LEAST_MS} to ${MOST_MS.toLocaleString("en-US")}`;
    throw new RateLimitConfigError(`${path}.lease.ms`, ms, problem);
  }
  const refuse = (option: string, value: unknown, reason: string) => {
    const message = `${path}.${option} does not go with lease, got ${describe(value)}: ${reason}`;
    throw new RateLimitConfigError(`${path}.${option}`, value, { message });
  };
  if (blockFor !== undefined) {
    refuse("blockFor", blockFor, "a process that serves from its block does not see the closing");
  }
  if (shards !== 1) {
    refuse("shards", shards, "with blocks, few calls reach the row, so leave shards out");
  }
  if (typeof period === "string") {
    refuse("period", period, "use a period in ms");
  }
  const { capacity = rate } = config;
  const lost = tokensWithin(config as PeriodicConfig, ms);
  if (capacity > lost) return;
  const message =
    `${path}.lease.ms is too long, got ${ms}: ${lost} tokens come in that time, and the capacity ` +
    `(${capacityOf(config)}) has to be more; use a shorter lease or a larger capacity`;
  throw new RateLimitConfigError(`${path}.lease.ms`, ms, { message });
}

/** Tokens that come in `ms`. Of a fixed window, on average. */
export function tokensWithin({ rate, period }: PeriodicConfig, ms: number): number {
  return (ms * rate) / period;
}
