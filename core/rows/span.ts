/**
 * The spans of usage in the order of time, for `usageChanges`: a row for each span in which a key has used
 * something. Counters follow each other by key, so the spans of all keys could not be found without these
 * rows. The decision that counts writes the row, unless the row is there already.
 *
 * The key of a row is the start of the span, epoch ms with 16 digits, a bar, and the key of the bucket. So
 * the rows follow each other by time in every collation.
 *
 * - `used`: the length of the span, ms. The limit may have another length by now.
 * - `ts`: the start of the span. It never changes.
 *
 * A row is full, and `prune` may delete it, at the same time as the counters of its span.
 */
import type { Row } from "./row.js";
import { RESERVED_PREFIX, type SideRows } from "./side-rows.js";
import { USAGE } from "./usage.js";

const DIGITS = 16;

export const SPANS: SideRows = {
  prefix: `${RESERVED_PREFIX}span:`,
  configOf: USAGE.configOf,
  optionOf: USAGE.optionOf,
  bucketKeyOf: (key) => key.slice(DIGITS + 1),
};

/** @param storedKey `""` for the position before all keys of a span. */
export function spanKey(start: number, storedKey: string): string {
  return `${String(start).padStart(DIGITS, "0")}|${storedKey}`;
}

export function spanRow(start: number, every: number): Row {
  return { used: every, ts: start };
}
