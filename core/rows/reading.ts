/**
 * Reads the row of a bucket by a config: what is used of the config's capacity, what is left, when a
 * call passes, and when the row is full. Pages know no rows, and calculate with what is left.
 */
import { type RateLimitState, type Reading, refill, unused, waitAfter } from "../calculate.js";
import { type Bucket, capacityOf, emptyAt, leastUsed, mostUsed } from "../config.js";
import { windowAfter } from "../windows.js";
import { isClosed, isOfLarger, levelIn, readBy, wasClosed } from "./bucket.js";
import { isCredits } from "./credits.js";
import type { Row } from "./row.js";

/**
 * The use that a config reads in a row at `now`. A `now` before the row's own instant counts as that
 * instant: no refill, no drain. Without a row, nothing was used, in a window aligned with `start`.
 *
 * @param least what is used at least, see {@link leastUsed}.
 */
export function usedAt(
  row: Row | null | undefined,
  config: Bucket,
  now: number,
  least: number = leastUsed(config),
): Reading {
  if (isClosed(row, now)) return readBy(config, row!);
  return refill(config, row ? readBy(config, row) : unused(config, now, least), now, least);
}

/** The use of a row at an instant, for code that adds to it or subtracts from it. */
export interface Level extends Reading {
  /** Whether a larger config has used more than this config has. That use is no debt, and stays used. */
  isOfLarger: boolean;
}

/**
 * The use of a row, whatever config has written it: at `now`; for a row of a larger config, at the row's
 * own instant. Adding and subtracting have the same effect at both instants.
 */
export function levelAt(row: Row | null | undefined, config: Bucket, now: number): Level {
  return row && isOfLarger(config, row)
    ? { ...row, isOfLarger: true }
    : { ...usedAt(row, config, now), isOfLarger: false };
}

/** The tokens that are left at `now`. A row that does not exist has all of them. */
export function heldAt(row: Row | null | undefined, config: Bucket, now: number): RateLimitState {
  const { used, ts } = usedAt(row, config, now);
  return { value: emptyAt(config) - used, ts };
}

/** The tokens that a config reads in a row, at the row's own instant. */
export function tokensOf(
  row: Row,
  config: Bucket,
): RateLimitState & { closedUntil?: number | undefined } {
  const { used, ts } = readBy(config, row);
  // A debt, and a balance of credits, are the row's own number.
  if (row.used < 0 || isCredits(config)) return { value: row.used, ts, used: row.used };
  const tokens = { value: capacityOf(config) - used, ts, used };
  return wasClosed(row) ? { ...tokens, closedUntil: row.ts } : tokens;
}

/**
 * Whole ms from `now` until taking `count` tokens leaves at least `floor`, see `waitAfter`. From a bucket
 * that is closed, nothing is taken before it opens.
 */
export function waitFor(
  row: Row | null | undefined,
  config: Bucket,
  now: number,
  count: number,
  floor: number,
): number {
  const reading = row ? readBy(config, row) : unused(config, now);
  if (!isClosed(row, now)) return waitAfter(reading, config, now, count, floor);
  const closedFor = Math.ceil(row!.ts - now);
  const passes = refill(config, reading, now + closedFor).used + count <= mostUsed(config, floor);
  return passes ? closedFor : closedFor + waitAfter(reading, config, now + closedFor, count, floor);
}

/**
 * Whether a row is full, so that it says no more than a missing row does. A balance of credits is full
 * at 0.
 */
export function isFullAt(row: Row, config: Bucket, now: number): boolean {
  if (isCredits(config)) return row.used === 0;
  return !isClosed(row, now) && refill(config, levelIn(config, row), now).used <= 0;
}

/**
 * About the instant at which a row will be full, epoch ms: off by no more than rounding. `Infinity`
 * for credits that are left, see {@link isFullAt}.
 */
export function fullAt(row: Row, config: Bucket): number {
  if (isCredits(config)) return row.used === 0 ? row.ts : Infinity;
  const { used, ts } = levelIn(config, row);
  const periods = used / config.rate;
  return config.kind !== "fixed window"
    ? ts + periods * config.period
    : windowAfter(config, ts, Math.ceil(periods));
}

/** The part of the capacity that was used at the row's instant: from 0, full, to 1, exhausted or in debt. */
export function usageOf(row: Row, config: Bucket): number {
  // The use of a balance is counted from the most that the balance can be.
  const used = readBy(config, row).used - leastUsed(config);
  const capacity = capacityOf(config);
  return used > 0 && used < capacity ? used / capacity : Number(used > 0);
}
