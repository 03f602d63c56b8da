/**
 * A bucket, or one of its shards, as a row of two numbers. It has the name of its limit.
 *
 * - `ts`: of a token bucket, the instant of `value`. Of a fixed window, the start of a window.
 * - `value`: the tokens held at `ts`. Below 0, it is a debt: tokens that were reserved or charged, or
 *   what keeps the bucket closed (see `core/block.ts`). A debt of nothing but {@link closedMark} is a
 *   closed window that owes nothing.
 *
 * It is full when it holds its capacity, see `isFullAt`.
 */
import type { RateLimitState } from "../calculate.js";
import { type Bucket, toleranceOf } from "../config.js";

/**
 * A debt that tells a closed window from an empty one, where the block ends with the window. It is
 * too small to change a sum with `rate`.
 */
export function closedMark({ rate }: Bucket): number {
  return rate * 2 ** -64;
}

/** Whether the row was left in debt. A difference by rounding is no debt, see `toleranceOf`. */
export function isInDebt(existing: RateLimitState | null, config: Bucket): boolean {
  if (existing === null) return false;
  const { value } = existing;
  return value < -toleranceOf(config) || value === -closedMark(config);
}
