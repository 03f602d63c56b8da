/**
 * The windows of a fixed window: of equal length, or calendar months in UTC. A month starts on the
 * day and at the time of `start`. Where a month lacks that day, its window starts on its last day:
 * the 31st, then 28 or 29 February, then 31 March. So a month is counted from `start`, and not from
 * the window before it.
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
  const { period, start = 0 } = config;
  const elapsed = Math.max(0, now - ts);
  return period === "month"
    ? monthAt(start, ts + elapsed) - monthAt(start, ts)
    : Math.floor(elapsed / period);
}

/** The start of the window that comes `count` windows after the one of `ts`. */
export function windowAfter(config: FixedWindowConfig, ts: number, count: number): number {
  const { period, start = 0 } = config;
  if (count === 0) return ts;
  return period === "month" ? monthStart(start, monthAt(start, ts) + count) : ts + count * period;
}

/** The index of the month at `now`, counted from the one that begins at `start`. */
function monthAt(start: number, now: number): number {
  const [from, to] = [new Date(start), new Date(now)];
  const years = to.getUTCFullYear() - from.getUTCFullYear();
  const index = 12 * years + to.getUTCMonth() - from.getUTCMonth();
  return monthStart(start, index) > now ? index - 1 : index;
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
