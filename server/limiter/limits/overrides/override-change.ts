/** A change of an override, for the table and for the memory of a process. */
import type { OverrideRow } from "../../../store/override-table.js";

/**
 * An override that is set or ends. The change moves no row of the limit: the use is the same under every
 * config.
 */
export interface OverrideChange {
  /** The id of the row of the table, and the row; `undefined` for an override that ends. */
  id: Pick<OverrideRow, "name" | "key">;
  row: OverrideRow | undefined;
}

/**
 * Sets `setAt` to the database's time, by which other processes find the rows that were set since their
 * last read. Call it after a first trip: before that, this process does not know the clock of the
 * database.
 */
export function setNow(row: OverrideRow, clock: () => number): OverrideRow {
  row.setAt = clock();
  return row;
}
