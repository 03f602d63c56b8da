/**
 * Takes tokens for use that has already happened. It is never denied: tokens that are not there are
 * owed, whatever `maxReserved` says, and later calls wait until the debt is repaid.
 */
import { heldAt, type RateLimitState } from "./calculate.js";
import { capacityOf, MAX_WAIT, type Bucket, longestPeriod } from "./config.js";
import { validateCount } from "./count.js";
import { RateLimitInputError } from "./errors.js";
import { isCredits, MOST_CREDITS } from "./rows/credits.js";

/**
 * The least that a charge may leave in a row: a debt that is repaid within half of `MAX_WAIT`. Of
 * credits, which only `credit()` repays, as many as a balance can hold.
 */
export function chargeFloor(config: Bucket): number {
  if (isCredits(config)) return -MOST_CREDITS;
  const periods = Math.floor(MAX_WAIT / 2 / longestPeriod(config));
  // Where the rate is huge, more than a double holds.
  return Math.min(0, Math.max(-Number.MAX_VALUE, capacityOf(config) - periods * config.rate));
}

/**
 * @param part one shard's part of the config, see `shardConfig`.
 * @throws RateLimitInputError for a count that is not valid, or would be a debt for ever.
 */
export function validateChargeable(
  name: string,
  part: Bucket,
  count: number,
  shards: number = 1,
): void {
  validateCount(count);
  if (capacityOf(part) - count / shards >= chargeFloor(part)) return;
  const message = `a charge of ${count} to "${name}" would take more than 71,000 years to refill`;
  throw new RateLimitInputError("unsatisfiable", message);
}

/**
 * The states of rows that share a limit after `count` tokens were charged to them. Several rows are
 * left with the same value, so that every later call meets its part of a debt.
 *
 * @param config one shard's part, see `shardConfig`.
 * @param keepsLevel whether a row that holds more than the capacity keeps it, because a larger config
 * has given it more since.
 */
export function chargeRows(
  rows: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
  count: number,
  keepsLevel = false,
): RateLimitState[] {
  const held = rows.map((row) => chargeableAt(row, config, now, keepsLevel));
  const total = held.reduce((sum, { value }) => sum + value, 0);
  // Reservations may owe more than a charge may leave. That debt stays.
  const floor = Math.min(chargeFloor(config), total / rows.length);
  const value = Math.max(floor, (total - count) / rows.length);
  return held.map(({ ts }) => ({ value, ts }));
}

/** What a row holds before it is charged; see `chargeRows`. */
export function chargeableAt(
  row: RateLimitState | null,
  config: Bucket,
  now: number,
  keepsLevel: boolean,
): RateLimitState {
  const isAbove = keepsLevel && row !== null && row.value > capacityOf(config);
  return heldAt(row, isAbove ? { ...config, capacity: row.value } : config, now);
}
