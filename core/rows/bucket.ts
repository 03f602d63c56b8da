/**
 * A bucket, or one of its shards, as a row of two numbers. The row has the name of its limit. A row says
 * what was used, and not what is left. So the row means the same for every config that reads it, and a
 * change of plan changes no row.
 *
 * - `ts`: of a token bucket, the instant of `used`. Of a fixed window, the start of a window.
 * - `used`, from 0 on: the tokens that were taken and are not refilled yet. A config with a smaller
 *   capacity than that reads its whole capacity as used.
 * - `used`, below 0: a debt, of tokens that were reserved or charged beyond the capacity. The debt is the
 *   same for every config, and comes on top of the whole capacity: with a capacity of 10, -3 means that
 *   10 tokens are used and 3 are owed.
 * - `used`, exactly {@link CLOSED}: a denial has closed the bucket until `ts` (`blockFor`). So the bucket
 *   opens at the promised instant, whatever config reads it. `CLOSED` stays until the next grant.
 *
 * A missing row has used nothing. Inside the arithmetic, `used` is what a config reads: the part above
 * its capacity is owed, and {@link emptyAt} less `used` is left.
 *
 * Credits are a balance, see `credits.ts`.
 */
import { type Bucket, capacityOf, emptyAt, toleranceOf } from "../config.js";
import { windowAfter, windowAt } from "../windows.js";
import { isCredits } from "./credits.js";
import type { Row } from "./row.js";

/** Above the capacity of every config that SQL calculates with, and far below the largest double. */
export const CLOSED = 2 ** 200;

/** Whether a denial has closed the bucket, and no call was granted since. */
export function wasClosed(row: Row | null | undefined): boolean {
  return row?.used === CLOSED;
}

/** Whether a bucket is closed now. */
export function isClosed(row: Row | null | undefined, now: number): boolean {
  return wasClosed(row) && now < row!.ts;
}

/**
 * The use in a row, as this config counts it: a debt comes on top of the capacity, and a closed bucket
 * has used the whole capacity. The use of a larger config can be above the capacity without a debt, so
 * code that only reads calls {@link readBy} instead.
 */
export function levelIn(config: Bucket, row: Row): Row {
  const { used, ts } = row;
  if (isCredits(config)) return { used: 0 - used, ts };
  if (wasClosed(row)) return { used: capacityOf(config), ts: emptyFrom(config, ts) };
  return used < 0 ? { used: capacityOf(config) - used, ts } : row;
}

/** Whether a row says that more was used than the config has, without a debt. */
export function isOfLarger(config: Bucket, row: Row): boolean {
  return (
    row.used > capacityOf(config) + toleranceOf(config) && !wasClosed(row) && !isCredits(config)
  );
}

/**
 * The use that a config reads in a row, at the row's own instant. Where a larger config has used more
 * than this config has, this config reads its whole capacity as used, and no debt.
 */
export function readBy(config: Bucket, row: Row): Row {
  return isOfLarger(config, row) ? { used: capacityOf(config), ts: row.ts } : levelIn(config, row);
}

/** The row that a config writes, so that the config reads `used` in it. */
export function rowOf(config: Bucket, used: number, ts: number): Row {
  // No -0, which not every store keeps.
  if (isCredits(config)) return { used: 0 - used, ts };
  const capacity = capacityOf(config);
  return { used: used > capacity + toleranceOf(config) ? capacity - used : used, ts };
}

/**
 * The row of tokens that are left. `used` is taken where `used` and `value` agree, because subtracting
 * `value` from the capacity may lose the last bit. `used` is ignored where a caller has changed `value`.
 */
export function rowOfTokens(
  config: Bucket,
  { value, ts, used }: { value: number; ts: number; used?: number | undefined },
): Row {
  if (value < 0 || isCredits(config)) return { used: value, ts };
  const capacity = emptyAt(config);
  const isSame = used !== undefined && capacity - used === value;
  // A `value` above the capacity is a full bucket. Without the bound of 0, `used` would be a debt.
  return { used: isSame ? used : Math.max(0, capacity - value), ts };
}

/**
 * The `ts` of an empty bucket that was closed until `end`. A token bucket is empty when it opens. A
 * fixed window opens with the tokens of the window that begins at `end`, so it was empty in the window
 * before that one.
 */
function emptyFrom(config: Bucket, end: number): number {
  if (config.kind !== "fixed window") return end;
  const { period, windows, starts } = config;
  if (typeof period === "number" && !starts && !windows) return end - period;
  const own = windowAt(config, end - 1);
  const isOwn = windows || starts || windowAfter(config, own, 1) === end;
  return isOwn ? own : windowAt({ ...config, start: end }, end - 1);
}
