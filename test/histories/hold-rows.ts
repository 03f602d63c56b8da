/** Checks the rows of holds: each has its marker, and those of a key add up to the row that sums them. */
import { HELD, holdOf, HOLDS } from "../../core/rows/hold.js";
import { bucketKeyOf, MARKERS } from "../../core/rows/marker.js";

export interface StoredRow {
  name: string;
  key: string;
  value: number;
  ts: number;
}

/** What is wrong with rows that were read at one instant. */
export function problemOfRows(rows: readonly StoredRow[]): string | undefined {
  const of = (prefix: string) => rows.filter(({ name }) => name.startsWith(prefix));
  const idOf = (prefix: string, { name, key }: StoredRow) =>
    JSON.stringify([name.slice(prefix.length), key]);
  const marked = new Set(of(MARKERS.prefix).map((row) => idOf(MARKERS.prefix, row)));
  const sums = new Map<string, { count: number; first: number }>();
  for (const row of of(HOLDS.prefix)) {
    const { count, until } = holdOf(row);
    const id = idOf(HOLDS.prefix, row);
    if (!(count > 0)) return `the hold ${id} is of ${count} tokens`;
    if (!marked.has(id)) return `the hold ${id} has no marker`;
    const bucket = idOf(HOLDS.prefix, { ...row, key: bucketKeyOf(row.key) });
    const { count: before, first } = sums.get(bucket) ?? { count: 0, first: Infinity };
    sums.set(bucket, { count: before + count, first: Math.min(first, until) });
  }
  for (const row of of(HELD.prefix)) {
    const bucket = idOf(HELD.prefix, row);
    const { count, first } = sums.get(bucket) ?? { count: 0, first: Infinity };
    sums.delete(bucket);
    if (Math.abs(row.value - count) > 1e-6) {
      return `${bucket} says that ${row.value} tokens are held, and ${count} are`;
    }
    if (row.ts > first)
      return `${bucket} says that nothing lapses before ${row.ts}, and not ${first}`;
  }
  const [missing] = sums;
  return missing && `${missing[0]} does not say that ${missing[1].count} tokens are held`;
}
