/**
 * Checks the rows of holds. Each hold has its marker, and the holds of a key add up to the row of their
 * sum.
 */
import { COUNT_SHARD, HELD, holdOf, HOLDS } from "../../core/rows/hold.js";
import { bucketKeyOf, MARKERS } from "../../core/rows/marker.js";

export interface StoredRow {
  name: string;
  key: string;
  shard: number;
  used: number;
  ts: number;
}

const NONE = { count: 0, first: Infinity, holds: 0 };

/** The problem of rows that were read at one instant; `undefined` if there is none. */
export function problemOfRows(rows: readonly StoredRow[]): string | undefined {
  const of = (prefix: string) => rows.filter(({ name }) => name.startsWith(prefix));
  const idOf = (prefix: string, { name, key }: StoredRow) =>
    JSON.stringify([name.slice(prefix.length), key]);
  const marked = new Set(of(MARKERS.prefix).map((row) => idOf(MARKERS.prefix, row)));
  const sums = new Map<string, { count: number; first: number; holds: number }>();
  for (const row of of(HOLDS.prefix)) {
    const { count, until } = holdOf(row);
    const id = idOf(HOLDS.prefix, row);
    if (!(count > 0)) return `the hold ${id} is of ${count} tokens`;
    if (!marked.has(id)) return `the hold ${id} has no marker`;
    const bucket = idOf(HOLDS.prefix, { ...row, key: bucketKeyOf(row.key) });
    const { count: before, first, holds } = sums.get(bucket) ?? NONE;
    sums.set(bucket, { count: before + count, first: Math.min(first, until), holds: holds + 1 });
  }
  const counts = of(HELD.prefix).filter(({ shard }) => shard === COUNT_SHARD);
  if (counts.length !== sums.size)
    return `${counts.length} keys count their holds, of ${sums.size}`;
  for (const row of counts) {
    const { holds } = sums.get(idOf(HELD.prefix, row)) ?? NONE;
    if (row.used !== holds) return `${row.key} counts ${row.used} holds, and has ${holds}`;
  }
  for (const row of of(HELD.prefix).filter(({ shard }) => shard === 0)) {
    const bucket = idOf(HELD.prefix, row);
    const { count, first } = sums.get(bucket) ?? NONE;
    sums.delete(bucket);
    if (Math.abs(row.used - count) > 1e-6) {
      return `${bucket} says that ${row.used} tokens are held, and ${count} are`;
    }
    if (row.ts > first)
      return `${bucket} says that nothing lapses before ${row.ts}, and not ${first}`;
  }
  const [missing] = sums;
  return missing && `${missing[0]} does not say that ${missing[1].count} tokens are held`;
}
