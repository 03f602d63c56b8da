/**
 * Checks whether a limit can ever grant a count, not whether the limit has the tokens now.
 */
import {
  type Bucket,
  capacityOf,
  floorOf,
  leastUsed,
  mostUsed,
  reservableOf,
  shardConfig,
} from "./config.js";
import { RateLimitInputError } from "./errors.js";

/**
 * @param advice what to do about it, for the message.
 * @throws RateLimitInputError with `reason: "count"` when negative or not finite.
 */
export function validateCount(count: number, advice: string = ""): void {
  if (!Number.isFinite(count) || count < 0) {
    throw new RateLimitInputError(
      "count",
      `count must be a finite number of at least 0, got ${typeof count === "number" ? count : typeof count}${advice}`,
    );
  }
}

/**
 * The count of a call: 1 where `count` is left out. `count: undefined` is an error: a figure of the use
 * that is missing looks like that, and 1 token instead of that figure can be far too few.
 *
 * @throws RateLimitInputError with `reason: "count"`.
 */
export function countOf(options: { count?: number | undefined }): number {
  if (!("count" in options)) return 1;
  validateCount(options.count!);
  return options.count!;
}

/**
 * @param count of the call, valid.
 * @throws RateLimitInputError with `reason: "count"` for an `atLeast` that is no number above 0, or above
 * the count.
 */
export function validateAtLeast(atLeast: unknown, count: number): asserts atLeast is number {
  if (typeof atLeast !== "number" || !Number.isFinite(atLeast) || !(atLeast > 0)) {
    const got = typeof atLeast === "number" ? atLeast : typeof atLeast;
    const message = `atLeast must be a finite number above 0, got ${got}`;
    throw new RateLimitInputError("count", message);
  }
  if (atLeast <= count) return;
  const message = `atLeast must be at most the count of the call, which is ${count}, got ${atLeast}`;
  throw new RateLimitInputError("count", message);
}

/** The option `count` as it was given: a `count` that was left out stays left out. */
export function countOption(options: { count?: number }): { count?: number } {
  return "count" in options ? { count: options.count } : {};
}

/**
 * Throws for a count that no wait could satisfy: one above the capacity, or with `reserve` above
 * what may be held and owed together. A call uses two shards, so with shards the bounds are those
 * of a pair.
 *
 * @throws RateLimitInputError with `reason: "unsatisfiable"`, or `"count"` as above.
 */
export function validateSatisfiable(
  name: string,
  config: Bucket,
  count: number,
  reserve: boolean,
): void {
  validateCount(count);
  if (isSatisfiable(config, count, reserve)) return;
  const most = mostSatisfiable(config, reserve);
  // A trap of `rate: 1 / 3`: the capacity is the rate, and no call for one token can pass.
  const advice =
    !reserve && capacityOf(config) < 1
      ? "; set capacity, which is the rate by default, to 1 or more"
      : "";
  const bound = reserve ? "capacity and maxReserved" : "capacity";
  const shards = (config.shards ?? 1) > 2 ? ` of two of its ${config.shards} shards` : "";
  throw new RateLimitInputError(
    "unsatisfiable",
    `count ${count} can never be granted by "${name}": the ${bound}${shards} ` +
      `${reserve ? "allow" : "allows"} ${most}${advice}`,
  );
}

/** Whether some wait could satisfy the count. */
export function isSatisfiable(config: Bucket, count: number, reserve: boolean): boolean {
  const part = shardConfig(config);
  return isSatisfiableBy(usedShards(config), part, count, floorOf(part, reserve));
}

/**
 * The same for a number of rows that may each sink to `floor`, see {@link mostUsed}: a page has no code of
 * reservations. Compares as the decision does, or a rounding error could accept a count that is then
 * denied for ever.
 */
export function isSatisfiableBy(
  rows: number,
  config: Bucket,
  count: number,
  floor?: number,
): boolean {
  return rows * leastUsed(config) + count <= rows * mostUsed(config, floor);
}

/** About the largest count that a wait could satisfy: {@link isSatisfiable} is exact. */
export function mostSatisfiable(config: Bucket, reserve: boolean): number {
  return mostHeld(config) + mostOwed(config, reserve);
}

/** The most tokens that the rows of one call can hold. */
export function mostHeld(config: Bucket): number {
  return usedShards(config) * (capacityOf(config) / (config.shards ?? 1));
}

/** The most tokens that the rows of one call can owe. */
function mostOwed(config: Bucket, reserve: boolean): number {
  if (!reserve) return 0;
  return usedShards(config) * reservableOf(shardConfig(config));
}

/** The rows that one call can use. */
export function usedShards({ shards = 1 }: Bucket): number {
  return Math.min(shards, 2);
}
