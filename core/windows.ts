/**
 * The windows of a fixed window: of equal length, or calendar months in UTC. A month starts on the
 * day and at the time of `start`. Where a month lacks that day, its window starts on its last day:
 * the 31st, then 28 or 29 February, then 31 March. So months are counted from `start`, and not from
 * the window before.
 *
 * A row keeps its windows when `start` changes. The next ones follow in steps of `period`, until the
 * row is reset.
 *
 * Windows of a time zone are not calculated here. A server has a calendar for them, and sends a list
 * of `starts` to a page. To the functions here, both are `Windows`.
 */
import { shortestBlock, type WindowBucket, type Windows } from "./config.js";
import { DAY } from "./durations.js";

/** The start of the window at `now`. */
export function windowAt(config: WindowBucket, now: number): number {
  const { period, start = 0 } = config;
  return (
    windowsOf(config)?.at(now) ??
    (typeof period === "string"
      ? monthStart(start, monthAt(start, now))
      : start + Math.floor((now - start) / period) * period)
  );
}

/** How many windows have started since the one of `ts`, the start of a window. At least 0. */
export function windowsSince(config: WindowBucket, ts: number, now: number): number {
  const { period } = config;
  const windows = windowsOf(config);
  if (windows) return windows.since(ts, now);
  const elapsed = Math.max(0, now - ts);
  if (typeof period === "number") return Math.floor(elapsed / period);
  const start = startAt(config, ts);
  return monthAt(start, ts + elapsed) - monthAt(start, ts);
}

/**
 * The start of the window that comes `count` windows after the one of `ts`. `Infinity` where fewer
 * windows follow.
 */
export function windowAfter(config: WindowBucket, ts: number, count: number): number {
  const { period } = config;
  if (count === 0) return ts;
  const windows = windowsOf(config);
  if (windows) return windows.after(ts, count);
  if (typeof period === "number") return ts + count * period;
  const start = startAt(config, ts);
  return monthStart(start, monthAt(start, ts) + count);
}

/**
 * The most windows that can have started in a row from the one of `from` to the one of `to`. With
 * months, one for each month of the calendar, also where the row had another `start` meanwhile.
 * With `afterBlock: "new window"`, a window can also start at the end of each block.
 */
export function mostWindowsBetween(config: WindowBucket, from: number, to: number): number {
  const { period, afterBlock } = config;
  const windows = windowsOf(config);
  if (windows) return windows.most?.(from, to) ?? windows.since(from, to);
  if (typeof period === "string") return Math.max(0, monthsFrom(from, to));
  const shortest = afterBlock === "new window" ? Math.min(period, shortestBlock(config)!) : period;
  // Rounded up: where the quotient is not whole, the windows have moved in between.
  return Math.ceil(Math.max(0, to - from) / shortest);
}

/** The windows of a time zone or of a list; `undefined` for windows of equal length, and for UTC months. */
function windowsOf({ windows, starts }: WindowBucket): Windows | undefined {
  if (!starts) return windows;
  const between = (ts: number, now: number) => starts.filter((at) => at > ts && at <= now);
  return {
    // Before the first window, any start will do: no earlier window can bring tokens.
    at: (now) => between(-Infinity, now).pop() ?? now,
    since: (ts, now) => between(ts, now).length,
    after: (ts, count) => between(ts, Infinity)[count - 1] ?? Infinity,
  };
}

/**
 * The instant that the months of a row are counted from: `start`, or `ts` where no month that is counted
 * from `start` begins at `ts`. Otherwise each change of `start` would begin a window, and refill the row.
 */
function startAt({ start = 0 }: WindowBucket, ts: number): number {
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
  // Go to the 1st first, or a month with fewer days would be skipped.
  date.setUTCMonth(date.getUTCMonth() + index, 1);
  const first = date.getTime();
  date.setUTCMonth(date.getUTCMonth() + 1, 0);
  return first + (Math.min(day, date.getUTCDate()) - 1) * DAY;
}
