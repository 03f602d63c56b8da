/**
 * The windows of a fixed window: of equal length, or calendar months in UTC. A month starts on the
 * day and at the time of `start`. Where a month lacks that day, its window starts on its last day:
 * the 31st, then 28 or 29 February, then 31 March. So a month is counted from `start`, and not from
 * the window before it.
 *
 * A row keeps its windows when `start` changes. The next ones follow in steps of `period`, until the
 * row is reset.
 */
import type { FixedWindowConfig } from "./config.js";
import { DAY } from "./durations.js";

/** The start of the window at `now`. */
export function windowAt({ period, start = 0 }: FixedWindowConfig, now: number): number {
  return period === "month"
    ? monthStart(start, monthAt(start, now))
    : start + Math.floor((now - start) / period) * period;
}

/** How many windows have started since the one of `ts`, the start of a window. At least 0. */
export function windowsSince(config: FixedWindowConfig, ts: number, now: number): number {
  const { period } = config;
  const elapsed = Math.max(0, now - ts);
  if (period !== "month") return Math.floor(elapsed / period);
  const start = startAt(config, ts);
  return monthAt(start, ts + elapsed) - monthAt(start, ts);
}

/** The start of the window that comes `count` windows after the one of `ts`. */
export function windowAfter(config: FixedWindowConfig, ts: number, count: number): number {
  const { period } = config;
  if (count === 0) return ts;
  if (period !== "month") return ts + count * period;
  const start = startAt(config, ts);
  return monthStart(start, monthAt(start, ts) + count);
}

/**
 * The most windows that can have started in a row from the one of `from` to the one of `to`. Of
 * months it is one for each month of the calendar, also where the row had another `start` meanwhile.
 * With `afterBlock: "new window"`, a window can also start at the end of each block.
 */
export function mostWindowsBetween(config: FixedWindowConfig, from: number, to: number): number {
  const { period, blockFor = Infinity, afterBlock } = config;
  if (period === "month") return Math.max(0, monthsFrom(from, to));
  const shortest = afterBlock === "new window" ? Math.min(period, blockFor) : period;
  // Rounded up: the windows have moved in between, where it is no whole number.
  return Math.ceil(Math.max(0, to - from) / shortest);
}

/**
 * The instant that the months of a row are counted from: `start`, or the row's own window where that
 * is none of `start`. A new `start` would otherwise begin a window, and refill, at each change.
 */
function startAt({ start = 0 }: FixedWindowConfig, ts: number): number {
  return monthStart(start, monthsFrom(start, ts)) === ts ? start : ts;
}

/** The index of the month at `now`, counted from the one that begins at `start`. */
function monthAt(start: number, now: number): number {
  const index = monthsFrom(start, now);
  return monthStart(start, index) > now ? index - 1 : index;
}

/** Months of the calendar from one instant to another. */
function monthsFrom(from: number, to: number): number {
  const [a, b] = [new Date(from), new Date(to)];
  return 12 * (b.getUTCFullYear() - a.getUTCFullYear()) + b.getUTCMonth() - a.getUTCMonth();
}

function monthStart(start: number, index: number): number {
  const date = new Date(start);
  const day = date.getUTCDate();
  // First to the 1st, or a month with fewer days would be skipped.
  date.setUTCMonth(date.getUTCMonth() + index, 1);
  const first = date.getTime();
  date.setUTCMonth(date.getUTCMonth() + 1, 0);
  return first + (Math.min(day, date.getUTCDate()) - 1) * DAY;
}
