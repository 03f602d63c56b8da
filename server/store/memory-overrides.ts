/** Overrides in the memory of this process. */
import { bucketId } from "../../core/bucket-id.js";
import type { OverrideRow, OverrideTable } from "./override-table.js";

export function memoryOverrides(): OverrideTable {
  const rows = new Map<string, OverrideRow>();
  return {
    read: async () => [...rows.values()],
    async write(row) {
      rows.set(bucketId(row.name, row.key), { ...row });
    },
    remove: async (name, key) => rows.delete(bucketId(name, key)),
    async removeEnded(before) {
      let removed = 0;
      for (const [id, { until }] of rows) {
        if (until <= before && rows.delete(id)) removed++;
      }
      return removed;
    },
  };
}
