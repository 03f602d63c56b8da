/**
 * Which keys had the most denials and took the most tokens of one limit over the last week, in bounded
 * memory: by ten minutes for an hour, by the hour for a day, and by the day for a week. Older spans are
 * merged into longer ones. There are some 40 spans of at most 200 keys: about a megabyte for a limit
 * whose calls come from thousands of keys all week, and little for a limit of few keys.
 */
import { DAY, HOUR, MINUTE } from "../../../core/durations.js";
import type { Usage } from "../../../core/usage.js";
import { HeavyKeys } from "./heavy-keys.js";

/** The length of the present span, ms. */
const SHORTEST = 10 * MINUTE;
/** How long something is kept at least, ms. */
export const KEPT_HISTORY = 7 * DAY;

/** What was counted, without what was given back. */
export interface KeyCounts {
  granted: number;
  denied: number;
  taken: number;
}

/** What is known of a limit in a range of time. */
export interface TopCounts {
  total: KeyCounts;
  /** By key as the caller gave it; `""` for the shared bucket. No number is too high. */
  keys: Map<string, KeyCounts>;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly total: KeyCounts;
  readonly denied: HeavyKeys;
  readonly taken: HeavyKeys;
}

export class KeyHistory {
  /** The oldest first. They do not overlap. */
  #spans: Span[] = [];

  /** @param at epoch ms. What a clock tells that has gone back counts in the latest span. */
  add(at: number, key: string, usage: Partial<Usage>): void {
    const start = Math.floor(at / SHORTEST) * SHORTEST;
    let span = this.#spans.at(-1);
    if (span === undefined || span.start < start) {
      this.#mergeOlder(at);
      span = newSpan(start, start + SHORTEST);
      this.#spans.push(span);
    }
    const { granted = 0, denied = 0, taken = 0 } = usage;
    addCounts(span.total, { granted, denied, taken });
    if (denied > 0) span.denied.add(key, denied, 0);
    if (taken > 0) span.taken.add(key, taken, granted);
  }

  /** What was counted in the spans that are at least in part in the range. */
  top(from: number, to: number): TopCounts {
    const found: TopCounts = { total: noKeyCounts(), keys: new Map() };
    for (const { start, end, total, denied, taken } of this.#spans) {
      if (end <= from || start >= to) continue;
      addCounts(found.total, total);
      for (const { key, seen } of denied.keys()) addCounts(countsOf(found, key), { denied: seen });
      for (const { key, seen, granted } of taken.keys()) {
        addCounts(countsOf(found, key), { taken: seen, granted });
      }
    }
    return found;
  }

  /** Merges spans that are so old that longer spans will do, and forgets the oldest. */
  #mergeOlder(now: number): void {
    const merged: Span[] = [];
    for (const span of this.#spans) {
      if (span.end <= now - KEPT_HISTORY) continue;
      const length = lengthAt(now - span.end);
      const place = Math.floor(span.start / length);
      const last = merged.at(-1);
      if (last !== undefined && Math.floor(last.start / length) === place) {
        merged[merged.length - 1] = mergedSpan(last, span);
      } else merged.push(span);
    }
    this.#spans = merged;
  }
}

/** The length of spans that ended so long ago, ms. */
function lengthAt(age: number): number {
  if (age < HOUR) return SHORTEST;
  return age < DAY ? HOUR : DAY;
}

function mergedSpan(a: Span, b: Span): Span {
  const total = noKeyCounts();
  addCounts(total, a.total);
  addCounts(total, b.total);
  const denied = HeavyKeys.merge([a.denied, b.denied]);
  return { start: a.start, end: b.end, total, denied, taken: HeavyKeys.merge([a.taken, b.taken]) };
}

function newSpan(start: number, end: number): Span {
  const [denied, taken] = [new HeavyKeys(), new HeavyKeys()];
  return { start, end, total: noKeyCounts(), denied, taken };
}

export function noKeyCounts(): KeyCounts {
  return { granted: 0, denied: 0, taken: 0 };
}

export function addCounts(sums: KeyCounts, counts: Partial<KeyCounts>): void {
  sums.granted += counts.granted ?? 0;
  sums.denied += counts.denied ?? 0;
  sums.taken += counts.taken ?? 0;
}

/** The counts of a key, to be added to. */
export function countsOf({ keys }: TopCounts, key: string): KeyCounts {
  let counts = keys.get(key);
  if (counts === undefined) keys.set(key, (counts = noKeyCounts()));
  return counts;
}
