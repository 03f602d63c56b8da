/** Rows as the words of scripts. */
import { fullAt, type RateLimitState } from "../../core/calculate.js";
import { capacityOf, type PeriodicConfig, type Bucket } from "../../core/config.js";
import { withStart } from "../../core/phase.js";
import { staysFull } from "../../core/with-calendar.js";
import type { Write } from "../store/plan-writes.js";
import type { TakeLine } from "../store/row-access.js";
import { distinctTerms } from "../store/take-terms.js";
import type { RowId } from "../store/store.js";
import { KEEP } from "./scripts.js";

/**
 * The state in a word of a reply; `undefined` for a row that does not exist, or was not taken from.
 *
 * @param ts what a take leaves out: that of a new row.
 */
export function stateOf(word: string, ts: number = NaN): RateLimitState | undefined {
  if (word === "-" || word === "!") return undefined;
  const slash = word.indexOf("/");
  if (slash < 0) return { value: Number(word), ts };
  return { value: Number(word.slice(0, slash)), ts: parseFloat(word.slice(slash + 1)) };
}

/** Whether another process holds the row. */
export const isHeld = (word: string) => word.endsWith("!");

/** The words of takes, after the mark. */
export function takeWords(lines: readonly TakeLine<PeriodicConfig>[], now: number): string[] {
  const { terms, places } = distinctTerms(lines);
  const { total } = lines[0]!;
  const isShared = terms.length === 1 && lines.every((line) => line.total === total);
  const words = [String(now), String(terms.length), isShared ? String(total) : ""];
  for (const { config, floor } of terms) {
    const { kind, rate, period } = config;
    const numbers = [rate, period, capacityOf(config), floor];
    words.push(kind === "fixed window" ? "1" : "0", ...numbers.map(String));
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
  { terms: { config, floor }, total, fresh }: TakeLine<PeriodicConfig>,
  now: string,
): string[] {
  const { kind, rate, period } = config;
  const capacity = capacityOf(config);
  const isWindow = kind === "fixed window";
  const words = [now, String(total), String(rate), String(period)];
  if (isWindow) words.push(String(fresh.ts));
  if (capacity === rate && floor === 0) return words;
  if (!isWindow) words.push("");
  words.push(String(capacity), String(floor));
  return words;
}

/**
 * Turns instants into text. Many calls have the same one. V8 keeps the text of each number for a while,
 * so a new text for each call would outlive its call, which makes collecting it expensive.
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

/** The words of one guarded write. */
export function writeWords({ row, was, next, also }: Write, now: number): string[] {
  return [
    ...(was === null ? ["", ""] : [String(was.value), String(was.ts)]),
    ...(next === null ? ["", "", ""] : [String(next.value), String(next.ts)]),
    ...(next === null ? [] : [lastsFor(row, next, now, also)]),
  ];
}

/**
 * For how long a row has to stay, ms: until it is full, whatever config it is charged with. Empty
 * for a row that has no known config.
 *
 * It is counted from `ts` or from now, whichever is earlier: a limiter may have a clock of its own.
 */
function lastsFor(row: RowId, next: RateLimitState, now: number, also: Write["also"]): string {
  const configs = also ?? [row.config];
  let lasts = 0;
  for (const config of configs) {
    if (config === undefined) return "";
    lasts = Math.max(lasts, lastsUnder(config, row, next) - Math.min(next.ts, now));
  }
  return Number.isFinite(lasts) ? String(lasts + KEEP) : "";
}

function lastsUnder(config: Bucket, { name, key }: RowId, next: RateLimitState): number {
  if (typeof config.period !== "string") return fullAt(next, config);
  return fullAt(next, withStart(config, name, key || undefined)) + staysFull(config);
}
