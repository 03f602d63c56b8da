/**
 * Closes a bucket after a denial (`blockFor`). The row stays two numbers: instead of what was used, it
 * says that it is closed, and until when. It says so until the next grant, because a denied call writes
 * nothing else.
 */
import { usedAt } from "./rows/reading.js";
import { type Bucket, shortestBlock } from "./config.js";
import { CLOSED } from "./rows/bucket.js";
import type { Row } from "./rows/row.js";
import { windowAfter, windowsSince } from "./windows.js";

/**
 * The row to write after a call was denied. `undefined` without `blockFor`, and for a bucket from
 * which no call was granted since it was closed or went into debt.
 *
 * - A token bucket is empty after exactly `blockFor`.
 * - A fixed window opens with the first window that starts then or later, and has the tokens of that
 *   window alone. With `afterBlock: "new window"`, one starts at the end of `blockFor`.
 */
export function closedRow(existing: Row | null, config: Bucket, now: number): Row | undefined {
  // Of a list, the first one. A call that counts closings replaces the list, see `withNextBlock`.
  const blockFor = shortestBlock(config);
  if (blockFor === undefined || wasShut(existing)) return undefined;
  const { ts } = usedAt(existing, config, now);
  // The row is from the future where the clock of this server is behind.
  return closedUntil(Math.max(now, ts) + blockFor, config, ts);
}

/** A row that is closed until an instant, or the first window that starts then or later. */
export function closedUntil(until: number, config: Bucket, ts: number): Row {
  if (config.kind !== "fixed window") return { used: CLOSED, ts: until };
  // Whole, because the start of a window is a whole number of periods away from the next one.
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
