/** Overrides in the memory of this process. */
import { bucketId } from "../../core/bucket-id.js";
import type { OverrideRow, OverrideTable } from "./override-table.js";

type Change = Parameters<NonNullable<OverrideTable["writeWithin"]>>[1];

/** @returns the table, and `commit`, which carries out the changes of a transaction. */
export function memoryOverrides(): { table: OverrideTable; commit(tx: object): void } {
  const rows = new Map<string, OverrideRow>();
  const changes = new WeakMap<object, Change[]>();

  function put(to: Map<string, OverrideRow>, change: Change): boolean {
    const id = bucketId(change.name, change.key);
    if (change.rule === undefined) return to.delete(id);
    to.set(id, { ...change });
    return true;
  }

  /** The rows as a transaction sees them. */
  function rowsIn(tx: unknown): Map<string, OverrideRow> {
    const seen = new Map(rows);
    for (const change of changes.get(tx as object) ?? []) put(seen, change);
    return seen;
  }

  const table: OverrideTable = {
    read: async () => [...rows.values()],
    readOf: async (names, key) => names.flatMap((name) => rows.get(bucketId(name, key)) ?? []),
    readWithin: async (tx) => [...rowsIn(tx).values()],
    async writeWithin(tx, change) {
      const isThere = put(rowsIn(tx), change);
      changes.set(tx as object, [...(changes.get(tx as object) ?? []), change]);
      return isThere;
    },
    async write(row) {
      put(rows, row);
    },
    remove: async (name, key) => put(rows, { name, key }),
    async removeEnded(before) {
      let removed = 0;
      for (const [id, { until }] of rows) {
        if (until <= before && rows.delete(id)) removed++;
      }
      return removed;
    },
  };
  return {
    table,
    commit(tx) {
      for (const change of changes.get(tx) ?? []) put(rows, change);
    },
  };
}
