/**
 * Gives a config of days, weeks or months in a time zone its calendar. A server calculates with the
 * calendar, and shows a list of numbers instead, see {@link shownConfig}.
 */
import { type RateLimitState } from "./calculate.js";
import { tokensOf, usedAt } from "./rows/reading.js";
import { Calendar } from "./calendar.js";
import { type Bucket, capacityOf, type ShownConfig } from "./config.js";
import type { FixedWindowConfig } from "./limit-config.js";
import { DAY, HOUR, WEEK } from "./durations.js";
import { rowOf, rowOfTokens } from "./rows/bucket.js";
import { zoneName } from "./zone-offset.js";

/** The calendars, by zone as it was given, period and first day of the week. */
const calendars = new Map<string, Calendar>();
/** There are some 600 names of zones, which can be written in many ways. */
const MAX_CALENDARS = 5000;

/** Windows that a page gets beyond those after which its bucket is full: a week of days. */
const SPARE = 8;
/** The most windows that a page gets. */
const MAX_LISTED = 1000;

/** Whether the windows of a config are those of a time zone, and not counted from its `start`. */
export function isOfZone({ kind, period, timeZone }: Bucket): boolean {
  if (kind !== "fixed window") return false;
  return period === "day" || period === "week" || timeZone !== undefined;
}

/**
 * How long a row stays after it is full again, ms. Its caller may come with another zone: by the windows
 * of that zone, the row may not be full yet, or may be refilled later than a new row.
 */
export function staysFull(config: Bucket): number {
  return isOfZone(config) ? LONGEST[config.period as keyof typeof LONGEST] : 0;
}

/** The longest windows with any change of the clock, unless a zone changes its date line or calendar. */
const LONGEST = { day: DAY + 2 * HOUR, week: WEEK + 2 * HOUR, month: 31 * DAY + 2 * HOUR };

/** The same config with its calendar, where it has one. */
export function withCalendar(config: Bucket): Bucket {
  if (config.kind !== "fixed window" || !isOfZone(config)) return config;
  const { windows, starts, ...own } = config;
  return windows === undefined && starts === undefined
    ? ({ ...own, windows: calendarOf(own) } as Bucket)
    : config;
}

/** The calendar that {@link withCalendar} gave to a config. */
export function calendarIn({ windows }: Bucket): Calendar | undefined {
  return windows instanceof Calendar ? windows : undefined;
}

/**
 * The config as it is shown: with a list of windows in the place of the calendar. The first window is
 * that of `now`. The list goes on until the bucket is full, and a little further.
 *
 * @param value the fewest tokens that one of its rows has left.
 * @param ts the instant of `value`: for a closed bucket, later than `now`.
 */
export function shownConfig(
  config: Bucket,
  value: number,
  now: number,
  ts: number = now,
): ShownConfig {
  if (config.windows === undefined) return config;
  const { windows, ...shown } = config;
  const missing = Math.ceil(Math.max(0, capacityOf(config) - value) / config.rate);
  const closed = windows.since(windows.at(now), ts);
  const starts = (windows as Calendar).list(now, Math.min(MAX_LISTED, closed + missing + SPARE));
  return { ...shown, starts };
}

/**
 * The state of a row at `now`, as it is shown along with a list of windows. After a change of the zone,
 * `ts` can be within a window. Such a `ts` becomes the start of the next window, which means the same and
 * is in the list.
 */
export function shownState<TState extends RateLimitState>(
  state: TState,
  config: Bucket,
  now: number,
): TState {
  const calendar = calendarIn(config);
  if (calendar === undefined) return state;
  const { used, ts } = usedAt(rowOfTokens(config, state), config, now);
  const tokens = tokensOf(rowOf(config, used, calendar.from(ts)), config);
  return { ...state, ...tokens };
}

function calendarOf({ period, timeZone = "UTC", weekStart = 1 }: FixedWindowConfig): Calendar {
  const id = `${period} ${weekStart} ${timeZone}`;
  let calendar = calendars.get(id);
  if (calendar === undefined) {
    calendar = new Calendar(zoneName(timeZone)!, period as "day", weekStart);
    if (calendars.size === MAX_CALENDARS) calendars.clear();
    calendars.set(id, calendar);
  }
  return calendar;
}
