/**
 * Closes a bucket after a denial (`blockFor`). A closed row is still two numbers: instead of what was
 * used, the row says that the bucket is closed, and until when. The row says so until the next grant,
 * because a later denial does not write it again.
 */
import { usedAt } from "./rows/reading.js";
import { type Bucket, shortestBlock } from "./config.js";
import { CLOSED } from "./rows/bucket.js";
import type { Row } from "./rows/row.js";
import { windowAfter, windowsSince } from "./windows.js";

/**
 * The row to write after a call was denied. `undefined` without `blockFor`, and for a bucket that has
 * granted no call since it was closed or went into debt.
 *
 * - A token bucket is empty after exactly `blockFor`.
 * - A fixed window opens with the first window that starts then or later, and has the tokens of that
 *   window alone. With `afterBlock: "new window"`, a window starts at the end of `blockFor`.
 */
export function closedRow(existing: Row | null, config: Bucket, now: number): Row | undefined {
  // Of a list, this is the first entry. A call that counts closings has replaced the list before: see
  // `withNextBlock`.
  const blockFor = shortestBlock(config);
  if (blockFor === undefined || wasShut(existing)) return undefined;
  const { ts } = usedAt(existing, config, now);
  // `ts` is later than `now` where the clock of this server is behind.
  return closedUntil(Math.max(now, ts) + blockFor, config, ts);
}

/** A row that is closed until an instant; of a fixed window, until the first window from then on. */
export function closedUntil(until: number, config: Bucket, ts: number): Row {
  if (config.kind !== "fixed window") return { used: CLOSED, ts: until };
  // Whole ms, because every window starts at a whole ms.
  const end = Math.ceil(until);
  if (config.afterBlock === "new window") return { used: CLOSED, ts: end };
  let windows = windowsSince(config, ts, end);
  if (windowAfter(config, ts, windows) < end) windows++;
  return { used: CLOSED, ts: windowAfter(config, ts, windows) };
}

/** Whether the row was left closed, or in debt. */
function wasShut(row: Row | null): boolean {
  return row !== null && (row.used < 0 || row.used === CLOSED);
}
