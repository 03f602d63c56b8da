/** Sums up counters of usage by bucket in this process, for `RateLimitStore.sums`; see `sums.ts`. */
import { COUNTERS, type Counts, noCounts } from "../../core/rows/usage.js";
import { readRows } from "./earliest-by-list.js";
import { MAX_ROWS } from "./max-rows.js";
import type { FoundRow, RateLimitStore, RowId } from "./store.js";
import type { FoundSums, KeySums, SumTerms } from "./sums.js";

/** What the keys of counters without the key of a bucket begin with. In other keys, a bar is escaped. */
export const NO_BUCKET = "|";

/** Sums up counters that come in any order. Keeps one entry for each bucket with counters in the range. */
export class TopSums {
  readonly #byStart = new Map<string, Counts>();

  constructor(private readonly terms: SumTerms) {}

  add({ row: { key, shard }, state: { used, ts } }: FoundRow): void {
    const { from, to } = this.terms;
    if (ts < from || ts >= to || shard >= COUNTERS) return;
    this.countsOf(startOf(key))[shard]! += used;
  }

  /** The sums of a bucket so far, to be added to. */
  countsOf(start: string): Counts {
    let counts = this.#byStart.get(start);
    if (counts === undefined) this.#byStart.set(start, (counts = noCounts()));
    return counts;
  }

  found(): FoundSums {
    const keys = noCounts();
    const buckets: KeySums[] = [];
    for (const [start, counts] of this.#byStart) {
      if (start === NO_BUCKET) continue;
      addCounts(keys, counts);
      buckets.push({ start, counts });
    }
    const top = mostFirst(buckets, this.terms).slice(0, this.terms.count);
    return { top, keys, all: this.#byStart.get(NO_BUCKET) ?? noCounts() };
  }
}

/** The buckets that have something of `by`, the most first. */
export function mostFirst(buckets: readonly KeySums[], { by }: Pick<SumTerms, "by">): KeySums[] {
  const sumOf = ({ counts }: KeySums) => by.reduce((sum, shard) => sum + counts[shard]!, 0);
  return buckets
    .flatMap((bucket) => {
      const sum = sumOf(bucket);
      return sum > 0 ? [{ bucket, sum }] : [];
    })
    .sort((a, b) => b.sum - a.sum || (a.bucket.start < b.bucket.start ? -1 : 1))
    .map(({ bucket }) => bucket);
}

export function addCounts(sums: Counts, counts: Counts): void {
  for (const [shard, count] of counts.entries()) sums[shard]! += count;
}

/** The key without the digits at its end. */
export function startOf(key: string): string {
  return key.slice(0, key.lastIndexOf("|") + 1);
}

/** The `ts` of a counter, as its key says it. */
function instantOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("|") + 1));
}

/** For a store without `sums`: lists the counters of the name, and reads those of the range. */
export async function sumsByList(
  apply: Parameters<typeof readRows>[0],
  list: NonNullable<RateLimitStore["list"]>,
  name: string,
  terms: SumTerms,
): Promise<FoundSums> {
  const sums = new TopSums(terms);
  let after: RowId | undefined;
  for (;;) {
    const page = await list(name, after, MAX_ROWS);
    const isIn = ({ key }: RowId) => instantOf(key) >= terms.from && instantOf(key) < terms.to;
    for (const row of await readRows(apply, page.filter(isIn))) sums.add(row);
    if (page.length < MAX_ROWS) return sums.found();
    after = page.at(-1)!;
  }
}
