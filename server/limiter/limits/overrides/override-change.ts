/** A change of an override, for the table and for the memory of a process. */
import type { OverrideRow, OverrideRowIds } from "../../../store/override-table.js";
import { limitNameOf, rowNamesOf } from "./override-row.js";
import { kindOfRow } from "./override-rule.js";

/**
 * An override that is set or ends. The change moves no row of the limit: the use is the same under every
 * config.
 */
export interface OverrideChange {
  /** The id of the row of the table, and the row; `undefined` for an override that ends. */
  id: Pick<OverrideRow, "name" | "key">;
  row: OverrideRow | undefined;
  /** A `setAt` that the row is later than. */
  after?: number | undefined;
}

/**
 * Sets `setAt` to the database's time, by which other processes find the rows that were set since their
 * last read. Call it after a first trip: before that, this process does not know the clock of the
 * database.
 *
 * @param others the rows of the limit and the key. The new row is later than those of other kinds, also
 * where their writer's clock was ahead.
 */
export function setNow(
  row: OverrideRow,
  clock: () => number,
  others: readonly OverrideRow[],
  after = -Infinity,
): OverrideRow {
  const of = limitNameOf(row);
  const before = others.filter(
    (each) => each.key === row.key && limitNameOf(each) === of && each.name !== row.name,
  );
  row.setAt = Math.max(clock(), after + 1, ...before.map(({ setAt }) => setAt + 1));
  return row;
}

/**
 * The row of the same kind that the new row replaces beside the one of its own name: earlier versions had one
 * row for all kinds.
 */
export function earlierRow(
  row: OverrideRow,
  others: readonly OverrideRow[],
): OverrideRow | undefined {
  const of = limitNameOf(row);
  if (of === row.name) return undefined;
  const old = others.find(({ name, key }) => name === of && key === row.key);
  return old !== undefined && kindOfRow(old) === kindOfRow(row) ? old : undefined;
}

/** The rows that a change is read with: all of the limit and the key. */
export function besideOf({ id }: OverrideChange): OverrideRowIds {
  return { names: rowNamesOf(limitNameOf(id)), key: id.key };
}
