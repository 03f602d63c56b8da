/** A change of an override, as the table and the memory of a process get it. */
import type { OverrideRow } from "../../../store/override-table.js";

/** An override that is set or ends. It moves no row: what was used is the same under every config. */
export interface OverrideChange {
  /** The row of the table, or its id, and `undefined` for an override that ends. */
  id: Pick<OverrideRow, "name" | "key">;
  row: OverrideRow | undefined;
}

/**
 * The other processes read what was set since they last did, by the clock of the database. A process knows
 * that clock after its first trip, and not when it was called.
 */
export function setNow(row: OverrideRow, clock: () => number): OverrideRow {
  row.setAt = clock();
  return row;
}
