/**
 * The calculations of the package's statements for one row, written a second time: the take, and whether
 * a row is full. Rows that a statement cannot read are left to the decisions of the store.
 */
import { CLOSED } from "../../../core/rows/bucket.js";
import type { Row } from "../../../core/rows/row.js";

/** The numbers of a take, as the parameters have them. */
export interface TakeNumbers {
  isWindow: boolean;
  rate: number;
  period: number;
  /** The most tokens that may be used after the take. */
  most: number;
  total: number;
  now: number;
  /**
   * `undefined`: a take without a debt. Such a take takes nothing from a row that says more than `most`,
   * or a debt.
   */
  any?: { capacity: number; own: number; least: number; over: number } | undefined;
}

/** @returns the row after the take, or `undefined` if the take does not pass. */
export function takeFrom({ used, ts }: Row, numbers: TakeNumbers): Row | undefined {
  const { most, total, any } = numbers;
  const { capacity, own, least, over } = any ?? {
    capacity: most,
    own: most,
    least: 0,
    over: -1e300,
  };
  // A row of a larger config, or of a closed bucket, is left to the decisions.
  if (used > own || (any === undefined && used < 0)) return undefined;
  const read = used < 0 ? capacity - used : used;
  const { refilled, at } = refill(ts, numbers);
  if (!(read - refilled + total <= most)) return undefined;
  // Where some use must be, no window may begin.
  if (over > -1e300 && ((numbers.isWindow && at !== ts) || read - refilled < over))
    return undefined;
  const after = Math.max(read - refilled, least) + total;
  return { used: after > own ? capacity - after : after, ts: at };
}

export interface FullNumbers {
  isWindow: boolean;
  rate: number;
  period: number;
  capacity: number;
  /** The used tokens of a closed bucket at the instant at which it opens. */
  opened: number;
  now: number;
}

/** Whether no token of a row is used any more. Use by a larger config counts in full. */
export function isFullRow({ used, ts }: Row, numbers: FullNumbers): boolean {
  const wasClosed = used === CLOSED;
  const open = used < 0 ? numbers.capacity - used : used;
  const level = wasClosed ? numbers.opened : open;
  return level - refill(ts, numbers).refilled <= 0 && (!wasClosed || ts <= numbers.now);
}

/**
 * How many tokens have refilled, and the row's `ts` after that. The windows of a row follow from its own
 * `ts`.
 */
function refill(
  ts: number,
  { isWindow, rate, period, now }: Pick<FullNumbers, "isWindow" | "rate" | "period" | "now">,
): { refilled: number; at: number } {
  const elapsed = Math.max(0, now - ts);
  if (!isWindow) return { refilled: (elapsed * rate) / period, at: Math.max(ts, now) };
  const windows = Math.floor(elapsed / period);
  return { refilled: windows * rate, at: ts + windows * period };
}
