/** `usage`: sums up the use of a key, from the rows of counters. */
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import {
  countOf,
  COUNTERS,
  type Counts,
  noCounts,
  spanAt,
  usageIn,
  type UsageTerms,
} from "../../../core/rows/usage.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import type { Context } from "../context/context.js";
import { MAX_ROWS } from "../../store/max-rows.js";
import { counterRows } from "../claims/counters.js";
import type { UsageItem, UsageOptions, UsageReport } from "../types/usage.js";

/** The most spans of one call: more than a year of hours. */
const MOST_SPANS = 10_000;
/** Each span has several rows, and a trip reads no more than `MAX_ROWS`. */
const SPANS_PER_TRIP = Math.floor(MAX_ROWS / COUNTERS);

const OPTIONS = namesOf<UsageOptions>({
  key: true,
  config: true,
  from: true,
  to: true,
  every: true,
});

export async function readUsage(
  { resolve, apply }: Pick<Context, "resolve" | "apply">,
  name: string,
  options: UsageOptions,
): Promise<UsageReport> {
  rejectUnknownOptions(options, OPTIONS, "usage()");
  const { from, to, every: ofItem } = options;
  const { usage: terms, rows } = resolve(name, options, false);
  if (terms === undefined) throw uncounted(name);
  const { every } = terms;
  const [first, end] = spansOf(terms, from, to);
  const each = lengthOfItem(terms, ofItem);
  const items: UsageItem[] = [];
  const all = noCounts();
  let ofNext = noCounts();
  let start = first;
  for (let trip = first; trip < end; trip += SPANS_PER_TRIP * every) {
    const starts = spansFrom(trip, Math.min(end, trip + SPANS_PER_TRIP * every), every);
    const found = await apply(starts.map((at) => spanRead(name, terms, at, rows[0].key)));
    for (const [i, counts] of found.entries()) {
      addAll(all, counts);
      addAll(ofNext, counts);
      const ends = starts[i]! + every;
      if ((ends - first) % each !== 0 && ends !== end) continue;
      items.push({ start, end: ends, ...usageIn(ofNext) });
      ofNext = noCounts();
      start = ends;
    }
  }
  return { items, total: usageIn(all) };
}

/** @throws RateLimitConfigError for a length that is no multiple of a span. */
export function lengthOfItem({ every }: Pick<UsageTerms, "every">, option?: number): number {
  const each = option ?? every;
  if (Number.isSafeInteger(each) && each >= every && each % every === 0) return each;
  const problem = `a multiple of the limit's usage.every, ${every}`;
  throw new RateLimitConfigError("every", option, problem);
}

function addAll(sums: Counts, counts: Counts): void {
  for (const [shard, count] of counts.entries()) sums[shard]! += count;
}

/** The counters of a span, in one decision that only reads. */
function spanRead(
  name: string,
  terms: UsageTerms,
  start: number,
  key: string,
): ClaimDecision<Counts> {
  const rowOf = counterRows({ name, terms, start });
  const rows = noCounts().map((_, shard) => rowOf(key, shard));
  const claim: Claim<Counts> = {
    rows,
    attempt: (draft) => rows.map((row) => countOf(draft.peek(row))),
  };
  return new ClaimDecision(claim, () => start, true);
}

function spansFrom(start: number, end: number, every: number): number[] {
  return Array.from({ length: (end - start) / every }, (_, i) => start + i * every);
}

/**
 * The start of the first span, and the end of the last span.
 *
 * @throws RateLimitConfigError for values that are no instants, and for instants that are too far apart.
 */
export function spansOf(
  { every }: Pick<UsageTerms, "every">,
  from: number,
  to: number,
): [first: number, end: number] {
  for (const [option, value] of Object.entries({ from, to })) {
    if (Number.isSafeInteger(value)) continue;
    throw new RateLimitConfigError(option, value, "an instant, a whole number of epoch ms");
  }
  if (!(from < to)) throw new RateLimitConfigError("to", to, `after from, which is ${from}`);
  const [first, end] = [spanAt(every, from), spanAt(every, to - 1) + every];
  if ((end - first) / every <= MOST_SPANS) return [first, end];
  const message =
    `from and to are too far apart: ${(end - first) / every} spans of ${every} ms, and one call reads ` +
    `${MOST_SPANS}; ask for a part of it, or sum up the rows by SQL`;
  throw new RateLimitConfigError("from", from, { message });
}

function uncounted(name: string): RateLimitConfigError {
  const message =
    `limiter.usage() needs a limit that counts its usage: set usage: true of ${describe(name)}, ` +
    "and it is counted from then on";
  return new RateLimitConfigError("usage", undefined, { message });
}
