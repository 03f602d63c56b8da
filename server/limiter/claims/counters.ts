/** The rows of counters, and the decisions that add to them and read them. */
import {
  addUsage,
  type Counts,
  counted,
  counterConfig,
  noCounts,
  spanAt,
  USAGE,
  type UsageTerms,
} from "../../../core/rows/usage.js";
import type { Usage } from "../../../core/usage.js";
import { markerKey } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { spanKey, spanRow, SPANS } from "../../../core/rows/span.js";
import { rowId, type RowId } from "../../store/store.js";
import { type Claim, ClaimDecision, type Draft } from "./draft.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** The part of a limit by which its usage is counted. */
export type CountedLimit = Pick<ResolvedLimit, "name" | "rows" | "usage">;

/** A span of a limit, which its counters have in common. */
export interface Span {
  readonly name: string;
  readonly terms: UsageTerms;
  /** Epoch ms. */
  readonly start: number;
}

/**
 * A function that returns the same counter for the same key and shard of a span.
 *
 * @returns a function from a stored key, `""` for all keys together, and a shard to a row.
 */
export function counterRows({ name, terms, start }: Span): (key: string, shard: number) => RowId {
  const config = counterConfig(terms, start);
  const ofName = sideName(USAGE, name);
  return (key, shard) => rowId(ofName, markerKey(key, String(start)), shard, config);
}

/** The row by which a span of a key is found, see `span.ts`. */
export function spanRowOf({ name, terms, start }: Span, key: string): RowId {
  const config = counterConfig(terms, start);
  return rowId(sideName(SPANS, name), spanKey(start, key), 0, config);
}

/**
 * A function that makes decisions which add to the counters of a span. All these decisions go by one
 * clock, which is always at the start of the span, so a store sends them together.
 */
export function additions({ terms, start }: Span): (row: RowId, count: number) => Decided {
  const config = counterConfig(terms, start);
  const clock = () => start;
  return (row, count) => {
    const claim: Claim<undefined> = {
      rows: [row],
      plain: { config, count, floor: 0, clock, granted: () => undefined },
      attempt: (draft) => add(draft, row, start, count),
    };
    return new ClaimDecision(claim, clock);
  };
}

/** One decision that adds to counters of a key, and notes that the key has used something in the span. */
export function notedAddition(
  span: Span,
  key: string,
  counts: readonly (readonly [shard: number, count: number])[],
): Decided {
  const rowOf = counterRows(span);
  const rows = counts.map(([shard]) => rowOf(key, shard));
  const noted = spanRowOf(span, key);
  const claim: Claim<undefined> = {
    rows: [...rows, noted],
    attempt(draft) {
      for (const [i, [, count]] of counts.entries()) add(draft, rows[i]!, span.start, count);
      note(draft, noted, span);
      return undefined;
    },
  };
  return new ClaimDecision(claim, () => span.start);
}

function note(draft: Draft, row: RowId, { terms, start }: Span): void {
  if (draft.read(row) === null) draft.write(row, spanRow(start, terms.every));
}

/** The sum of all keys is told of no key. */
function isNoted({ terms }: Span, key: string): boolean {
  return terms.changes && key !== "";
}

type Decided = ClaimDecision<undefined>;

function add(draft: Draft, row: RowId, start: number, count: number): undefined {
  draft.write(row, counted(draft.read(row), start, count));
}

/**
 * The rows of counters that a claim writes with {@link usageWrites}. The claim has to name these rows. No
 * rows for a limit without `usage`.
 *
 * @param now when the claim is made, epoch ms. A store may decide on the claim later: its usage counts in
 * the span of `now` all the same.
 * @param usage the usage that may be counted, with any numbers above 0. @default all counters
 */
export function usageRows(
  limit: CountedLimit,
  now: number,
  usage?: Partial<Usage>,
): readonly RowId[] {
  if (limit.usage === undefined) return [];
  const span = spanOf(limit, limit.usage, now);
  const { key } = limit.rows[0];
  const rowOf = counterRows(span);
  const counts = usage === undefined ? noCounts().fill(1) : countsOf(usage);
  const rows = counts.flatMap((count, shard) => (count > 0 ? [rowOf(key, shard)] : []));
  return isNoted(span, key) ? [...rows, spanRowOf(span, key)] : rows;
}

/**
 * Counts usage in the decision of a claim itself: exactly once if the claim takes effect, and else not at
 * all. `report` is then told that the usage is `"in its row"`.
 *
 * @param now the `now` of {@link usageRows}.
 */
export function usageWrites(
  draft: Draft,
  limit: CountedLimit,
  now: number,
  usage: Partial<Usage>,
): void {
  if (limit.usage === undefined) return;
  const span = spanOf(limit, limit.usage, now);
  const { key } = limit.rows[0];
  const rowOf = counterRows(span);
  const counts = countsOf(usage);
  for (const [shard, count] of counts.entries()) {
    if (count > 0) add(draft, rowOf(key, shard), span.start, count);
  }
  const hasCounted = counts.some((count) => count > 0);
  if (hasCounted && isNoted(span, key)) note(draft, spanRowOf(span, key), span);
}

function spanOf({ name }: CountedLimit, terms: UsageTerms, now: number): Span {
  return { name, terms, start: spanAt(terms.every, now) };
}

function countsOf(usage: Partial<Usage>): Counts {
  const counts = noCounts();
  addUsage(counts, usage);
  return counts;
}
