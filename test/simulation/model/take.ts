/**
 * What the statements of the package calculate with one row, written anew: the take, and whether a row is
 * full. Rows that a statement cannot read are left to the decisions of the store.
 */
import { CLOSED } from "../../../core/rows/bucket.js";
import type { Row } from "../../../core/rows/row.js";

/** The numbers of a take, as the parameters have them. */
export interface TakeNumbers {
  isWindow: boolean;
  rate: number;
  period: number;
  /** The most that may be used after it. */
  most: number;
  total: number;
  now: number;
  /** `undefined`: a take that owes nothing. It takes from no row that says more than `most`, or a debt. */
  any?: { capacity: number; own: number; least: number } | undefined;
}

/** @returns the row after the take, or `undefined` where it does not pass. */
export function takeFrom({ used, ts }: Row, numbers: TakeNumbers): Row | undefined {
  const { most, total, any } = numbers;
  const { capacity, own, least } = any ?? { capacity: most, own: most, least: 0 };
  // What a larger config has used, and a closing, are left to the decisions.
  if (used > own || (any === undefined && used < 0)) return undefined;
  const read = used < 0 ? capacity - used : used;
  const { refilled, at } = refill(ts, numbers);
  if (!(read - refilled + total <= most)) return undefined;
  const after = Math.max(read - refilled, least) + total;
  return { used: after > own ? capacity - after : after, ts: at };
}

export interface FullNumbers {
  isWindow: boolean;
  rate: number;
  period: number;
  capacity: number;
  /** What is used of a bucket that was closed, when it opens. */
  opened: number;
  now: number;
}

/** Whether nothing of a row is used any more. What a larger config has used of it counts in full. */
export function isFullRow({ used, ts }: Row, numbers: FullNumbers): boolean {
  const wasClosed = used === CLOSED;
  const open = used < 0 ? numbers.capacity - used : used;
  const level = wasClosed ? numbers.opened : open;
  return level - refill(ts, numbers).refilled <= 0 && (!wasClosed || ts <= numbers.now);
}

/** What has come since, and when that was so. The windows of a row are those of its own `ts`. */
function refill(
  ts: number,
  { isWindow, rate, period, now }: Pick<FullNumbers, "isWindow" | "rate" | "period" | "now">,
): { refilled: number; at: number } {
  const elapsed = Math.max(0, now - ts);
  if (!isWindow) return { refilled: (elapsed * rate) / period, at: Math.max(ts, now) };
  const windows = Math.floor(elapsed / period);
  return { refilled: windows * rate, at: ts + windows * period };
}
