/**
 * What a config reads in a row of a bucket: what is used of its own capacity, what is left, when a call
 * passes, and when the row is full. Pages know no rows, and calculate with what is left.
 */
import { type RateLimitState, type Reading, refill, unused, waitAfter } from "../calculate.js";
import { type Bucket, capacityOf, emptyAt, leastUsed, mostUsed } from "../config.js";
import { windowAfter } from "../windows.js";
import { isClosed, isOfLarger, levelIn, readBy, wasClosed } from "./bucket.js";
import { isCredits } from "./credits.js";
import type { Row } from "./row.js";

/**
 * What a config reads in a row at `now`. A `now` before the row's own instant counts as that one: no
 * refill, no drain. Without a row, nothing was used, in a window aligned with `start`.
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

/** What a row says at an instant, for those who add to it and subtract from it. */
export interface Level extends Reading {
  /** Whether more was used than the config has, by a larger one. That is no debt, and stays used. */
  isOfLarger: boolean;
}

/**
 * What a row says, whatever config has written it: at `now`, or of a larger config, at the row's own
 * instant. To add to that, or to subtract from it, is the same at both.
 */
export function levelAt(row: Row | null | undefined, config: Bucket, now: number): Level {
  return row && isOfLarger(config, row)
    ? { ...row, isOfLarger: true }
    : { ...usedAt(row, config, now), isOfLarger: false };
}

/** The tokens that are left at `now`. Of a row that does not exist, that is all. */
export function heldAt(row: Row | null | undefined, config: Bucket, now: number): RateLimitState {
  const { used, ts } = usedAt(row, config, now);
  return { value: emptyAt(config) - used, ts };
}

/** What a row holds by a config at its own instant, for those who read it. */
export function tokensOf(
  row: Row,
  config: Bucket,
): RateLimitState & { closedUntil?: number | undefined } {
  const { used, ts } = readBy(config, row);
  // A debt, and a balance of credits, are what the row has.
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
 * Whether a row is full, so that it says no more than a missing row does. Of credits, that is so
 * where none are left.
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
  // A balance counts from the most that it can be.
  const used = readBy(config, row).used - leastUsed(config);
  const capacity = capacityOf(config);
  return used > 0 && used < capacity ? used / capacity : Number(used > 0);
}
