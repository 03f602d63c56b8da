/**
 * `usageChanges`: the spans in which keys have used something, in the order of time. A span is told once
 * nothing is added to it any more, because meters keep the first event of an id, and refuse or ignore a later
 * one with another value.
 *
 * The rows of `core/rows/span.ts` are the list of spans. A cursor has a place in that list for each limit.
 * Rows that come after a cursor are of later spans: a minute after the end of a span, no process begins to
 * write into it, and `delay` after it, its transactions have ended, too.
 */
import type { Bucket } from "../../../core/config.js";
import { MINUTE } from "../../../core/durations.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { markerKey } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { spanKey, SPANS } from "../../../core/rows/span.js";
import { spanAt, usageIn, type UsageTerms, usageTerms } from "../../../core/rows/usage.js";
import { readRows } from "../../store/earliest-by-list.js";
import { rowId, type FoundRow, type RateLimitStore } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import { unsupported } from "../types/unsupported.js";
import type { UsageChange, UsageChangePage, UsageChangesOptions } from "../types/usage-changes.js";
import { readSpans } from "./read-usage.js";

const DEFAULT_LIMIT = 100;
const MOST = 1000;
/** How long after its end a span is told, ms. */
const DELAY = 2 * MINUTE;

const OPTIONS = namesOf<UsageChangesOptions>({ since: true, limit: true, delay: true });

/** The place after a row: the start of its span, and its stored key; `""` for before all keys. */
type Place = readonly [start: number, key: string];
type Places = Readonly<Record<string, Place>>;

interface Parts extends Pick<Context, "apply" | "list"> {
  readonly store: RateLimitStore;
  readonly configs: ReadonlyMap<string, Bucket>;
  clock(): number;
}

interface Told {
  readonly items: readonly UsageChange[];
  readonly place: Place;
  /** Whether all spans of the limit were told that may be told by now. */
  readonly isAll: boolean;
}

export async function usageChanges(
  parts: Parts,
  options: UsageChangesOptions = {},
): Promise<UsageChangePage> {
  rejectUnknownOptions(options, OPTIONS, "usageChanges()");
  const { since, limit = DEFAULT_LIMIT, delay = DELAY } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
    throw new RateLimitConfigError("limit", limit, `a whole number from 1 to ${MOST}`);
  }
  if (!(Number.isSafeInteger(delay) && delay >= DELAY)) {
    throw new RateLimitConfigError("delay", delay, `a whole number of ms, at least ${DELAY}`);
  }
  const { store, configs, clock } = parts;
  const terms = termsOf(configs);
  if (store.list === undefined) throw unsupported(store, "list");
  const now = clock();
  // Limits that are away keep their place, or all of their spans would be told again.
  const places: Record<string, Place> = { ...placesOf(since, terms, now) };
  const items: UsageChange[] = [];
  let hasMore = false;
  for (const [name, of] of terms) {
    if (items.length === limit) {
      hasMore = true;
      break;
    }
    const told = await tell(parts, name, of, places[name], limit - items.length, now - delay);
    items.push(...told.items);
    places[name] = told.place;
    hasMore = !told.isAll;
    if (hasMore) break;
  }
  return { items, next: JSON.stringify(places), hasMore };
}

/** Tells the spans of a limit that have ended at `before` or earlier. */
async function tell(
  { apply, list }: Parts,
  name: string,
  terms: UsageTerms,
  place: Place = [0, ""],
  count: number,
  before: number,
): Promise<Told> {
  const ofName = sideName(SPANS, name);
  const after = rowId(ofName, spanKey(...place), place[1] === "" ? -1 : 0);
  const page = await list(ofName, after, count);
  const rows = await readRows(apply, page);
  const open = rows.findIndex(({ state }) => state.ts + state.used > before);
  const over = open === -1 ? rows : rows.slice(0, open);
  const items = await changesOf(apply, name, terms, over);
  if (open === -1 && page.length === count) {
    const last = page.at(-1)!;
    return { items, place: [startOf(last.key), keyOf(last.key)], isAll: false };
  }
  // Where `every` was changed, rows of the same instant may be over, and are told again later.
  const { every } = terms;
  const next = open === -1 ? spanAt(every, before) : rows[open]!.state.ts;
  return { items, place: [Math.max(place[0], next), ""], isAll: true };
}

async function changesOf(
  apply: Context["apply"],
  name: string,
  terms: UsageTerms,
  rows: readonly FoundRow[],
): Promise<UsageChange[]> {
  const spans = rows.map(({ row, state }) => {
    return { name, terms: { ...terms, every: state.used }, start: state.ts, key: keyOf(row.key) };
  });
  const found = await readSpans(apply, spans);
  return spans.map(({ start, key, terms: { every } }, i) => {
    const id = markerKey(name, markerKey(key, String(start)));
    return { id, name, key, start, end: start + every, ...usageIn(found[i]!) };
  });
}

const keyOf = (spanRowKey: string): string => SPANS.bucketKeyOf!(spanRowKey);
const startOf = (spanRowKey: string): number =>
  Number(spanRowKey.slice(0, spanRowKey.indexOf("|")));

/** @throws RateLimitConfigError where no limit tells its spans. */
function termsOf(configs: Parts["configs"]): ReadonlyMap<string, UsageTerms> {
  const terms = new Map<string, UsageTerms>();
  for (const [name, { usage }] of configs) {
    const own = usage ? usageTerms(usage) : undefined;
    if (own?.changes) terms.set(name, own);
  }
  if (terms.size > 0) return terms;
  const message =
    "limiter.usageChanges() needs a limit that tells its spans: set usage: { changes: true } of a limit, " +
    "and they are told from then on";
  throw new RateLimitConfigError("usage.changes", undefined, { message });
}

/**
 * @throws RateLimitConfigError for a text that is no cursor, and for a cursor that is so old that spans after
 * it may have been deleted.
 */
function placesOf(
  since: string | number | undefined,
  terms: ReadonlyMap<string, UsageTerms>,
  now: number,
): Places {
  if (since === undefined) return {};
  const places =
    typeof since === "number"
      ? Object.fromEntries([...terms.keys()].map((name) => [name, [since, ""] as const]))
      : parse(since);
  if (places === undefined || !Object.values(places).every(isPlace)) throw invalid(since);
  for (const [name, { every, keep }] of terms) {
    const [start] = places[name] ?? [now];
    if (start + every + keep >= now) continue;
    const message =
      `since is older than usage.keep of "${name}", ${keep} ms: spans after it are deleted by now. ` +
      "Begin again, by an instant or without since";
    throw new RateLimitConfigError("since", since, { message });
  }
  return places;
}

function parse(cursor: string): Places | undefined {
  try {
    const places: unknown = JSON.parse(cursor);
    return typeof places === "object" && places !== null ? (places as Places) : undefined;
  } catch {
    return undefined;
  }
}

function isPlace(place: unknown): place is Place {
  if (!Array.isArray(place) || place.length !== 2) return false;
  return Number.isSafeInteger(place[0]) && place[0] >= 0 && typeof place[1] === "string";
}

function invalid(since: unknown): RateLimitConfigError {
  const message = `since must be a cursor that usageChanges() gave as next, or an instant, got ${String(since)}`;
  return new RateLimitConfigError("since", since, { message });
}
