/** The ranges of the chart, and the spans into which each is cut. */
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import type { AdminLimit, UsageSpan } from "./admin-types.js";

export interface UsageRange {
  id: "hour" | "day" | "week";
  label: string;
  /** As in "in the last hour". */
  last: string;
  length: number;
  /** The length of a bar that reads well, ms. */
  bar: number;
}

export const RANGES: readonly UsageRange[] = [
  { id: "hour", label: "Hour", last: "hour", length: HOUR, bar: MINUTE },
  { id: "day", label: "Day", last: "day", length: DAY, bar: 30 * MINUTE },
  { id: "week", label: "Week", last: "week", length: 7 * DAY, bar: 4 * HOUR },
];

/** A chart with fewer bars says nothing. */
const FEWEST = 4;

/** The ranges with enough bars for a limit: usage in spans of a day has no chart of an hour. */
export function rangesOf({ usageEvery = MINUTE }: AdminLimit): readonly UsageRange[] {
  const fine = RANGES.filter(({ length }) => length / usageEvery >= FEWEST);
  return fine.length > 0 ? fine : RANGES.slice(-1);
}

/** The question to ask: about whole spans, of which the last is the present span. */
export function askedOf(
  { usageEvery = MINUTE }: AdminLimit,
  { length, bar }: UsageRange,
  now: number,
): { from: number; to: number; every: number } {
  // A bar is a whole number of the limit's own spans, and a day is a whole number of bars.
  let spans = Math.max(1, Math.ceil(bar / usageEvery));
  while (DAY % (spans * usageEvery) !== 0 && spans * usageEvery < DAY) spans++;
  const every = spans * usageEvery;
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
