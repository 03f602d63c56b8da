/**
 * A bucket, or one of its shards, as a row of two numbers. It has the name of its limit. A row says what
 * was used, and not what is left: so it says the same whatever config reads it, and a change of plan
 * moves nothing.
 *
 * - `ts`: of a token bucket, the instant of `used`. Of a fixed window, the start of a window.
 * - `used`, from 0 on: the tokens that were taken and are not refilled yet. A config whose capacity is
 *   smaller than that reads it as all of its own.
 * - `used`, below 0: a debt, of tokens that were reserved or charged beyond the capacity. It is the same
 *   for every config, and comes on top of the whole capacity.
 * - `used`, exactly {@link CLOSED}: a denial has closed the bucket until `ts` (`blockFor`). So it opens
 *   when that was promised, whatever config reads it. It stays in the row until the next grant.
 *
 * A missing row has used nothing. Inside the arithmetic, `used` is what a config reads: above its
 * capacity, tokens are owed. What is left is {@link emptyAt} less `used`.
 *
 * Credits are a balance, see `credits.ts`.
 */
import { type Bucket, capacityOf, emptyAt, toleranceOf } from "../config.js";
import { windowAfter, windowAt } from "../windows.js";
import { isCredits } from "./credits.js";
import type { Row } from "./row.js";

/** More than any config that SQL calculates with has, and far from what doubles do not hold. */
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
 * What a row says is used, as it is counted for this config: a debt comes on top of its capacity, and a
 * closing has used all of it. What a larger config has used is more than the capacity, and no debt: so
 * those who only read take {@link readBy} instead.
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
 * What a config reads in a row, at the row's own instant. Where a larger config has used more than this
 * one has, it reads all of its own, and no debt.
 */
export function readBy(config: Bucket, row: Row): Row {
  return isOfLarger(config, row) ? { used: capacityOf(config), ts: row.ts } : levelIn(config, row);
}

/** The row that a config writes, so that it reads this much used in it. */
export function rowOf(config: Bucket, used: number, ts: number): Row {
  // No -0, which not every store keeps.
  if (isCredits(config)) return { used: 0 - used, ts };
  const capacity = capacityOf(config);
  return { used: used > capacity + toleranceOf(config) ? capacity - used : used, ts };
}

/**
 * The row of tokens that are left. `used` goes before `value` where the two say the same, because
 * subtracting from the capacity may lose the last bit. It is ignored where a caller has changed `value`.
 */
export function rowOfTokens(
  config: Bucket,
  { value, ts, used }: { value: number; ts: number; used?: number | undefined },
): Row {
  if (value < 0 || isCredits(config)) return { used: value, ts };
  const capacity = emptyAt(config);
  const isSame = used !== undefined && capacity - used === value;
  // More than the capacity is a full bucket: below 0, it would be a debt.
  return { used: isSame ? used : Math.max(0, capacity - value), ts };
}

/**
 * The `ts` of an empty bucket that was closed until `end`. A token bucket is empty when it opens. A
 * fixed window opens with the tokens of the window that begins then, so it was empty the window before.
 */
function emptyFrom(config: Bucket, end: number): number {
  if (config.kind !== "fixed window") return end;
  const { period, windows, starts } = config;
  if (typeof period === "number" && !starts && !windows) return end - period;
  const own = windowAt(config, end - 1);
  const isOwn = windows || starts || windowAfter(config, own, 1) === end;
  return isOwn ? own : windowAt({ ...config, start: end }, end - 1);
}
