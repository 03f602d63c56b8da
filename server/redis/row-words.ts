/** Rows as the words of scripts. */
import { wasClosed } from "../../core/rows/bucket.js";
import { fullAt } from "../../core/rows/reading.js";
import type { Row } from "../../core/rows/row.js";
import type { Bucket, PeriodicConfig } from "../../core/config.js";
import { withStart } from "../../core/phase.js";
import { staysFull } from "../../core/with-calendar.js";
import type { Write } from "../store/plan-writes.js";
import type { TakeLine } from "../store/row-access.js";
import { ANY_USE, distinctTerms, termNumbers } from "../store/take-terms.js";
import type { RowId } from "../store/store.js";
import { INDEXED, KEEP } from "./scripts.js";

/**
 * The state in a word of a reply; `undefined` for a row that does not exist, or from which nothing was
 * taken.
 *
 * @param ts the `ts` of a new row, which the reply to a take leaves out.
 */
export function stateOf(word: string, ts: number = NaN): Row | undefined {
  if (word === "-" || word === "!") return undefined;
  const slash = word.indexOf("/");
  if (slash < 0) return { used: Number(word), ts };
  return { used: Number(word.slice(0, slash)), ts: parseFloat(word.slice(slash + 1)) };
}

/** Whether another process holds the row. */
export const isHeld = (word: string) => word.endsWith("!");

/** The words of takes, after the mark. */
export function takeWords(lines: readonly TakeLine<PeriodicConfig>[], now: number): string[] {
  const { terms, places } = distinctTerms(lines);
  const { total } = lines[0]!;
  const isShared = terms.length === 1 && lines.every((line) => line.total === total);
  const words = [String(now), String(terms.length), isShared ? String(total) : ""];
  for (const each of terms) {
    const { rate, period, capacity, own, most, least, over } = termNumbers(each);
    const numbers = [rate, period, capacity, own, most, least, over];
    words.push(each.config.kind === "fixed window" ? "1" : "0", ...numbers.map(String));
  }
  const isWindow = terms[0]!.config.kind === "fixed window";
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (!isShared) words.push(String(places[i]), String(line.total));
    if (!isShared || isWindow) words.push(String(line.fresh.ts));
  }
  return words;
}

/** The words of the take of one row, after its keys and its deadline. */
export function takeOneWords(
  { terms, total, fresh }: TakeLine<PeriodicConfig>,
  now: string,
): string[] {
  const { rate, period, capacity, own, most, least, over } = termNumbers(terms);
  const isWindow = terms.config.kind === "fixed window";
  const words = [now, String(total), String(rate), String(period), String(own)];
  const more = [isWindow ? fresh.ts : "", capacity, most, least, over];
  const defaults = ["", rate, own, 0, ANY_USE];
  // Values at the end that have their defaults are left out.
  const given = more.findLastIndex((value, i) => value !== defaults[i]) + 1;
  for (let i = 0; i < given; i++) words.push(String(more[i]));
  return words;
}

/**
 * Turns instants into text. Many calls have the same instant, and share one text. V8 keeps the text of
 * each number for a while: a new text for each call would outlive the call, and be expensive to collect.
 */
export function createInstantText(): (instant: number) => string {
  let last = NaN;
  let text = "";
  return (instant) => {
    if (instant !== last) {
      last = instant;
      text = String(instant);
    }
    return text;
  };
}

/**
 * The words of one guarded write.
 *
 * @param index the place of the first key of the row's indexes, if the row has indexes.
 */
export function writeWords(
  { row, was, next, also }: Write,
  now: number,
  index: number | undefined,
): string[] {
  const lasts = next === null ? "" : lastsFor(row, next, now, also);
  return [
    ...(was === null ? ["", ""] : [String(was.used), String(was.ts)]),
    ...(next === null ? ["", ""] : [String(next.used), String(next.ts)]),
    index === undefined ? lasts : INDEXED + index,
  ];
}

/**
 * For how long a row has to stay, ms: until the row is full under each config that charges it. Empty for
 * a row that has no known config.
 *
 * The time counts from `ts` or from now, from the earlier of the two: a limiter may have a clock of its
 * own.
 */
function lastsFor(row: RowId, next: Row, now: number, also: Write["also"]): string {
  const configs = also ?? [row.config];
  let lasts = 0;
  for (const config of configs) {
    if (config === undefined) return "";
    // The `ts` of a closed row is the instant at which it opens: at most the longest `blockFor` after the
    // write.
    const written = wasClosed(next) ? next.ts - longestBlock(config) : next.ts;
    lasts = Math.max(lasts, lastsUnder(config, row, next) - Math.min(written, now));
  }
  return Number.isFinite(lasts) ? String(lasts + KEEP) : "";
}

function longestBlock({ blockFor = 0 }: Bucket): number {
  return typeof blockFor === "number" ? blockFor : blockFor.at(-1)!;
}

function lastsUnder(config: Bucket, { name, key }: RowId, next: Row): number {
  if (typeof config.period !== "string") return fullAt(next, config);
  return fullAt(next, withStart(config, name, key || undefined)) + staysFull(config);
}
