/** The ranges of the chart and of the top keys, and the spans into which the chart cuts each of them. */
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import type { AdminLimit, UsageSpan } from "./admin-types.js";
import type { Formats } from "./formats.js";

export interface UsageRange {
  id: "hour" | "day" | "week" | "dates";
  label: string;
  length: number;
  /** The length of a bar that reads well, ms. */
  bar: number;
  /** The end, epoch ms; `undefined` for a range that ends now. */
  to?: number;
}

export const RANGES: readonly UsageRange[] = [
  { id: "hour", label: "Hour", length: HOUR, bar: MINUTE },
  { id: "day", label: "Day", length: DAY, bar: 30 * MINUTE },
  { id: "week", label: "Week", length: 7 * DAY, bar: 4 * HOUR },
];

/** A chart with fewer bars says nothing. */
const FEWEST = 4;
/** A chart with more bars is too fine, where a bar is shorter than a day. */
const MOST = 62;
/** The bars of a range by date: each is a part of a day. */
const BARS = [1, 5, 10, 15, 30, 60, 120, 240, 720, 1440].map((minutes) => minutes * MINUTE);
/** The longest range by date: a bar for each day. */
const LONGEST = 366 * DAY;
/** The last year that a field for dates can show. Epoch ms. */
const LAST = Date.UTC(9999, 0);

/** The ranges with enough bars for a limit: usage in spans of a day has no chart of an hour. */
export function rangesOf({ usageEvery = MINUTE }: Pick<AdminLimit, "usageEvery">) {
  const fine = RANGES.filter(({ length }) => length / usageEvery >= FEWEST);
  return fine.length > 0 ? fine : RANGES.slice(-1);
}

/** A range by date. Without an order of its ends, it is a minute long. */
export function datesOf(from: number, end: number): UsageRange {
  const to = Math.max(end, MINUTE);
  const length = Math.min(LONGEST, Math.max(MINUTE, to - from));
  const bar = BARS.find((each) => length / each <= MOST) ?? DAY;
  return { id: "dates", label: "Dates", length, bar, to };
}

/**
 * @param text of an address: the id of a range, or `<from>-<to>` in epoch ms.
 * @returns the first of `ranges` where the text is none of them.
 */
export function rangeOf(text: string | undefined, ranges: readonly UsageRange[]): UsageRange {
  const [, from, to] = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "") ?? [];
  if (Number(from) < Number(to) && Number(to) <= LAST) return datesOf(Number(from), Number(to));
  return ranges.find(({ id }) => id === text) ?? ranges[0]!;
}

/** The text of a range for an address; `undefined` for the first of `ranges`. */
export function rangeText(range: UsageRange, ranges: readonly UsageRange[]): string | undefined {
  if (range.to !== undefined) return `${range.to - range.length}-${range.to}`;
  return range.id === ranges[0]!.id ? undefined : range.id;
}

/** Such as `the last hour`, or `14:00 to 15:00`. */
export function rangeWords({ id, length, to }: UsageRange, { between }: Formats): string {
  return to === undefined ? `the last ${id}` : between(to - length, to);
}

/** The ends of a range, epoch ms. A range that ends now begins and ends with whole minutes. */
export function endsOf({ length, to }: UsageRange, now: number): { from: number; to: number } {
  const end = to ?? Math.ceil(now / MINUTE) * MINUTE;
  return { from: end - length, to: end };
}

/**
 * The range before (`-1`) or after (`1`) another one; `undefined` where there is none. The last one ends
 * now.
 */
export function movedRange(range: UsageRange, by: -1 | 1, now: number): UsageRange | undefined {
  const { length } = range;
  const { from, to } = endsOf(range, now);
  if (by === -1) return from < length ? undefined : datesOf(from - length, from);
  if (range.to === undefined) return undefined;
  if (to + length < now) return datesOf(to, to + length);
  return RANGES.find((each) => each.length === length) ?? datesOf(now - length, now);
}

/** The question to ask: about whole spans, of which the last is the present span, or the end's. */
export function askedOf(
  { usageEvery = MINUTE }: Pick<AdminLimit, "usageEvery">,
  range: UsageRange,
  now: number,
): { from: number; to: number; every: number } {
  const { length, bar } = range;
  // A bar is a whole number of the limit's own spans, and a day is a whole number of bars.
  let spans = Math.max(1, Math.ceil(bar / usageEvery));
  while (DAY % (spans * usageEvery) !== 0 && spans * usageEvery < DAY) spans++;
  const every = spans * usageEvery;
  if (range.to !== undefined) {
    const from = Math.floor((range.to - length) / every) * every;
    return { from, to: Math.ceil(range.to / every) * every, every };
  }
  const to = (Math.floor(now / every) + 1) * every;
  return { from: to - Math.ceil(length / every) * every, to, every };
}

/** The sums of all spans. */
export function sumOf(spans: readonly Pick<UsageSpan, "granted" | "denied">[]) {
  return {
    granted: spans.reduce((sum, span) => sum + span.granted, 0),
    denied: spans.reduce((sum, span) => sum + span.denied, 0),
  };
}

/** Every span of a range. In a span that has no item, nothing was counted. */
export function allSpans(
  items: readonly UsageSpan[],
  { from, to, every }: { from: number; to: number; every: number },
): UsageSpan[] {
  const known = new Map(items.map((item) => [Math.floor((item.start - from) / every), item]));
  return Array.from({ length: Math.round((to - from) / every) }, (_, index) => {
    const start = from + index * every;
    const { granted = 0, denied = 0 } = known.get(index) ?? {};
    return { start, end: start + every, granted, denied };
  });
}
