/** Which counts make sense for a limit at all; whether there are tokens for one is decided later. */
import { capacityOf, type RateLimitConfig, reservableOf } from "./config.js";
import { describe, RateLimitInputError } from "./errors.js";

/** @throws RateLimitInputError with `reason: "count"` when negative or not finite. */
export function validateCount(count: number): void {
  if (!Number.isFinite(count) || count < 0) {
    throw new RateLimitInputError(
      "count",
      `count must be a finite number of at least 0, got ${describe(count)}`,
    );
  }
}

/**
 * Refuses a count that no wait could satisfy: over the capacity, or with `reserve` over what may
 * be held and owed together. A call sees two shards, so on shards both are those of a pair.
 *
 * @throws RateLimitInputError with `reason: "unsatisfiable"`, or `"count"` as above.
 */
export function validateSatisfiable(
  name: string,
  config: RateLimitConfig,
  count: number,
  reserve: boolean,
): void {
  validateCount(count);
  const most = mostSatisfiable(config, reserve);
  if (count <= most) return;
  const bound = reserve ? "capacity and maxReserved" : "capacity";
  const shards = (config.shards ?? 1) > 2 ? ` of two of its ${config.shards} shards` : "";
  throw new RateLimitInputError(
    "unsatisfiable",
    `count ${count} can never be granted by "${name}": the ${bound}${shards} ` +
      `${reserve ? "allow" : "allows"} ${most}`,
  );
}

/** The largest count that a wait could satisfy. */
export function mostSatisfiable(config: RateLimitConfig, reserve: boolean): number {
  const whole = capacityOf(config) + (reserve ? reservableOf(config) : 0);
  const shards = config.shards ?? 1;
  return shards > 2 ? (whole * 2) / shards : whole;
}
