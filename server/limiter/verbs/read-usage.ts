/** `usage`: sums up the use of a key, from the rows of counters. */
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import { countOf, COUNTERS, type Counts, noCounts, usageIn } from "../../../core/rows/usage.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import type { Context } from "../context/context.js";
import { MAX_ROWS } from "../../store/max-rows.js";
import { counterRows, type Span } from "../claims/counters.js";
import { boundsOf } from "./usage-bounds.js";
import type { UsageItem, UsageOptions, UsageReport } from "../types/usage.js";

/** Each span has several rows, and a trip reads no more than `MAX_ROWS`. */
const SPANS_PER_TRIP = Math.floor(MAX_ROWS / COUNTERS);

const OPTIONS = namesOf<UsageOptions>({
  key: true,
  config: true,
  from: true,
  to: true,
  month: true,
  timeZone: true,
  every: true,
});

export async function readUsage(
  { resolve, apply }: Pick<Context, "resolve" | "apply">,
  name: string,
  options: UsageOptions,
): Promise<UsageReport> {
  rejectUnknownOptions(options, OPTIONS, "usage()");
  const { usage: terms, rows } = resolve(name, options, false);
  if (terms === undefined) throw uncounted(name, "usage()");
  const { every } = terms;
  const bounds = boundsOf(terms, options);
  const [first, end] = [bounds[0]!, bounds.at(-1)!];
  const items: UsageItem[] = [];
  const all = noCounts();
  let ofNext = noCounts();
  for (let trip = first; trip < end; trip += SPANS_PER_TRIP * every) {
    const starts = spansFrom(trip, Math.min(end, trip + SPANS_PER_TRIP * every), every);
    const { key } = rows[0];
    const found = await readSpans(
      apply,
      starts.map((at) => ({ name, terms, start: at, key })),
    );
    for (const [i, counts] of found.entries()) {
      addAll(all, counts);
      addAll(ofNext, counts);
      const [start, ends] = [bounds[items.length]!, bounds[items.length + 1]!];
      if (starts[i]! + every !== ends) continue;
      items.push({ start, end: ends, ...usageIn(ofNext) });
      ofNext = noCounts();
    }
  }
  return { items, total: usageIn(all) };
}

function addAll(sums: Counts, counts: Counts): void {
  for (const [shard, count] of counts.entries()) sums[shard]! += count;
}

/** The counters of spans of keys, in order. */
export async function readSpans(
  apply: Context["apply"],
  spans: readonly (Span & { readonly key: string })[],
): Promise<Counts[]> {
  const found: Counts[] = [];
  for (let at = 0; at < spans.length; at += SPANS_PER_TRIP) {
    found.push(...(await apply(spans.slice(at, at + SPANS_PER_TRIP).map(spanRead))));
  }
  return found;
}

/** The counters of a span, in one decision that only reads. */
function spanRead({ key, ...span }: Span & { readonly key: string }): ClaimDecision<Counts> {
  const rowOf = counterRows(span);
  const rows = noCounts().map((_, shard) => rowOf(key, shard));
  const claim: Claim<Counts> = {
    rows,
    attempt: (draft) => rows.map((row) => countOf(draft.peek(row))),
  };
  return new ClaimDecision(claim, () => span.start, true);
}

function spansFrom(start: number, end: number, every: number): number[] {
  return Array.from({ length: (end - start) / every }, (_, i) => start + i * every);
}

export function uncounted(name: string, method: string): RateLimitConfigError {
  const message =
    `limiter.${method} needs a limit that counts its usage: set usage: true of ${describe(name)}, ` +
    "and it is counted from then on";
  return new RateLimitConfigError("usage", undefined, { message });
}
