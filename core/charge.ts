/**
 * Takes tokens for use that has already happened. A charge is never denied: tokens that are missing are
 * owed, whatever `maxReserved` says, and later calls wait until the debt is repaid.
 */
import { usedAt } from "./rows/reading.js";
import { type Bucket, capacityOf, longestPeriod, MAX_WAIT, mostUsed } from "./config.js";
import { validateCount } from "./count.js";
import { RateLimitInputError } from "./errors.js";
import { isClosed, isOfLarger, rowOf } from "./rows/bucket.js";
import { isCredits, MOST_CREDITS } from "./rows/credits.js";
import { withMoreUsed } from "./rows/larger.js";
import type { Row } from "./rows/row.js";
import { windowAfter } from "./windows.js";

/**
 * The least that a charge may leave in a row: a debt that is repaid within half of `MAX_WAIT`. Only
 * `credit()` repays a debt of credits, so its bound is the most that a balance can hold.
 */
export function chargeFloor(config: Bucket): number {
  if (isCredits(config)) return -MOST_CREDITS;
  const periods = Math.floor(MAX_WAIT / 2 / longestPeriod(config));
  // With a huge rate, the debt would be more than a double holds.
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

/** Rows that share a limit, after a charge. */
export interface ChargedRows {
  /** The rows to write. */
  next: Row[];
  /** The tokens charged to each row; below 0 for a row whose use was passed on to other rows. */
  charged: number[];
}

/**
 * The rows that share a limit, after `count` tokens were charged to them. The first of these cases
 * counts:
 *
 * - A row says what a larger config has used. That use stays, and each row pays an equal part.
 * - All rows are closed. Each opens later, by the time in which its part of the charge is refilled.
 * - Some rows are closed. The open rows pay, and the closed rows stay as they are.
 * - Otherwise all rows end with the same use, so that every later call meets its part of a debt. Rows
 *   that have used 2 and 6 have both used 6 after a charge of 4.
 *
 * @param config one shard's part, see `shardConfig`.
 */
export function chargeRows(
  rows: readonly (Row | null)[],
  config: Bucket,
  now: number,
  count: number,
): ChargedRows {
  if (rows.some((row) => row !== null && isOfLarger(config, row))) {
    const share = count / rows.length;
    return {
      next: rows.map((row) => chargeAlone(row, config, now, share)),
      charged: rows.map(() => share),
    };
  }
  const closed = rows.filter((row) => isClosed(row, now));
  if (closed.length === rows.length) {
    const share = count / rows.length;
    return {
      next: closed.map((row) => closedLonger(row!, config, now, share)),
      charged: closed.map(() => share),
    };
  }
  if (closed.length > 0) return chargeOpen(rows, config, now, count);
  const held = rows.map((row) => usedAt(row, config, now));
  const total = held.reduce((sum, { used }) => sum + used, 0);
  // Reservations may owe more than a charge may leave. Such a debt stays.
  const most = Math.max(mostUsed(config, chargeFloor(config)), total / rows.length);
  const used = Math.min(most, (total + count) / rows.length);
  return {
    next: held.map(({ ts }) => rowOf(config, used, ts)),
    charged: held.map((reading) => used - reading.used),
  };
}

/** Charges one of the rows, where some of them say what a larger config has used. */
function chargeAlone(row: Row | null, config: Bucket, now: number, count: number): Row {
  if (isClosed(row, now)) return closedLonger(row!, config, now, count);
  const reading = usedAt(row, config, now);
  if (row !== null && isOfLarger(config, row)) {
    return withMoreUsed(config, row, now, reading, count);
  }
  const used = reading.used + count;
  return row !== null && row.used < 0 ? rowOf(config, used, reading.ts) : { used, ts: reading.ts };
}

/** {@link chargeRows} where some of the rows are closed, and others are open. */
function chargeOpen(
  rows: readonly (Row | null)[],
  config: Bucket,
  now: number,
  count: number,
): ChargedRows {
  const open = rows.filter((row) => !isClosed(row, now));
  const { next, charged } = chargeRows(open, config, now, count);
  return {
    next: rows.map((row) => (isClosed(row, now) ? row! : next.shift()!)),
    charged: rows.map((row) => (isClosed(row, now) ? 0 : charged.shift()!)),
  };
}

/**
 * A closed bucket that opens later, by the time in which the charge is refilled. Like a debt, that time
 * has a bound: a charge to a bucket that opens after `MAX_WAIT / 2` or later is forgotten.
 */
function closedLonger(row: Row, config: Bucket, now: number, count: number): Row {
  const { used, ts } = row;
  if (ts - now >= MAX_WAIT / 2) return row;
  const periods = count / config.rate;
  return config.kind === "fixed window"
    ? { used, ts: windowAfter(config, ts, Math.ceil(periods)) }
    : { used, ts: Math.ceil(ts + periods * config.period) };
}
