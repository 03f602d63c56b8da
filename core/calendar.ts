/**
 * The windows of days, weeks and months in a time zone. A window starts with the first instant of its
 * first day. That instant is not always midnight, and a day is not always 24 hours:
 *
 * - Where a change of the clock leaves out midnight, the day starts when the clock has changed.
 * - Where midnight comes twice, the day starts at the first one.
 * - A day that a zone has left out, to change sides of the date line, has no window.
 *
 * Windows are numbered. All functions here are calculated from one of them: the start of window n.
 */
import type { Windows } from "./config.js";
import type { FixedWindowConfig } from "./limit-config.js";
import { DAY, HOUR } from "./durations.js";
import { dayNumber, offsetOf } from "./zone-offset.js";

type CalendarPeriod = Exclude<FixedWindowConfig["period"], number>;

/** The most starts that a calendar remembers, some 50 bytes each. */
const MAX_STARTS = 20_000;
/** More than any zone was ever away from UTC: Manila was the furthest, 15:56:08 behind. */
const FURTHEST = 16 * HOUR;
/** More windows than any wait has: 2^52 ms are fewer days. */
const MOST_WINDOWS = 1e9;
/** Further from 1970 than any instant of a decision, epoch ms. Up to this bound all sums are exact. */
const LATEST = 2 ** 54;
/** Years in which a zone can have left out a day: from before the first such day to long after the last. */
const [FIRST_YEAR, LAST_YEAR] = [1840, 2100];

export class Calendar implements Windows {
  private readonly starts = new Map<number, number>();
  /** The days without a window, by year. */
  private readonly skipped = new Map<number, readonly number[]>();
  /** The window that was asked for last: most calls are in the present window. */
  private current = { index: 0, start: 0, end: 0 };

  /**
   * @param zone a `zoneName`.
   * @param weekStart the first day of the week, from 0, which is Sunday.
   */
  constructor(
    private readonly zone: string,
    private readonly period: CalendarPeriod,
    private readonly weekStart: number,
  ) {}

  at(now: number): number {
    return this.windowOf(now).start;
  }

  /** A `ts` that starts no window counts as the start of the next window: see {@link indexFrom}. */
  since(ts: number, now: number): number {
    if (now < ts) return 0;
    // Most rows are of the present window.
    const { index, start } = this.windowOf(now);
    return ts >= start ? 0 : Math.max(0, this.windowsBetween(this.indexFrom(ts), index));
  }

  after(ts: number, count: number): number {
    if (!(count < MOST_WINDOWS)) return Infinity;
    const from = this.indexFrom(ts);
    let index = from + count;
    for (;;) {
      const missing = count - this.windowsBetween(from, index);
      if (missing === 0) return this.windowOf(this.startOf(index)).start;
      index += missing;
    }
  }

  /** The first start of a window at `ts` or later. */
  from(ts: number): number {
    return this.startOf(this.indexFrom(ts));
  }

  /** The starts of `count` windows, from the window of `now` on. */
  list(now: number, count: number): number[] {
    const list: number[] = [];
    for (let { index } = this.windowOf(now); list.length < count; index++) {
      if (this.startOf(index) !== list.at(-1)) list.push(this.startOf(index));
    }
    return list;
  }

  most(from: number, to: number): number {
    const windows = this.windowsBetween(this.windowOf(from).index, this.windowOf(to).index);
    // A `to` that starts no window: the row has been in another zone, which may have brought one window
    // more.
    return Math.max(0, windows) + (this.from(to) === to ? 0 : 1);
  }

  /**
   * The first window that starts at `ts` or later. A row whose zone was changed has a `ts` within a
   * window. Such a row keeps its tokens until that window has ended, and during the next window. So the
   * windows of a row are never shorter than those of a row that stays in one zone, however often the
   * zone changes.
   */
  private indexFrom(ts: number): number {
    const { index, start } = this.windowOf(ts);
    return start === ts ? index : this.windowOf(this.startOf(index + 1)).index;
  }

  private windowOf(at: number): { index: number; start: number; end: number } {
    const now = Math.min(LATEST, Math.max(-LATEST, at));
    if (now >= this.current.start && now < this.current.end) return this.current;
    let index = this.indexOf(Math.floor(now / DAY));
    // The zone's day is the day of UTC, the day before or the day after.
    while (this.startOf(index + 1) <= now) index++;
    while (this.startOf(index) > now) index--;
    this.current = { index, start: this.startOf(index), end: this.startOf(index + 1) };
    return this.current;
  }

  /** How many windows start after window `from`, up to window `to`. */
  private windowsBetween(from: number, to: number): number {
    if (this.period !== "day") return to - from;
    if (to < from) return -this.windowsBetween(to, from);
    const [first, last] = [from, to].map((day) => Math.floor(yearOf(day)));
    let windows = to - from;
    const end = Math.min(last!, LAST_YEAR);
    for (let year = Math.max(first!, FIRST_YEAR); year <= end; year++) {
      for (const day of this.skippedIn(year)) if (day > from && day <= to) windows--;
    }
    return windows;
  }

  /** Days of a year that have no window, because the next day starts at the same instant. */
  private skippedIn(year: number): readonly number[] {
    let skipped = this.skipped.get(year);
    if (skipped === undefined) {
      const [first, end] = [dayNumber(year, 1, 1), dayNumber(year + 1, 1, 1)];
      const isShort = this.startOf(end) - this.startOf(first) < (end - first) * DAY - FURTHEST;
      const days = isShort ? Array.from({ length: end - first }, (_, i) => first + i) : [];
      skipped = days.filter((day) => this.startOf(day) === this.startOf(day + 1));
      this.skipped.set(year, skipped);
    }
    return skipped;
  }

  /** The window of a day of the calendar. */
  private indexOf(day: number): number {
    if (this.period === "day") return day;
    // 1 January 1970 was a Thursday.
    if (this.period === "week") return Math.floor((day + 4 - this.weekStart) / 7);
    let month = Math.floor(yearOf(day) * 12);
    while (this.firstDayOf(month + 1) <= day) month++;
    while (this.firstDayOf(month) > day) month--;
    return month;
  }

  private firstDayOf(index: number): number {
    if (this.period === "day") return index;
    if (this.period === "week") return index * 7 - 4 + this.weekStart;
    return dayNumber(0, index + 1, 1);
  }

  private startOf(index: number): number {
    let start = this.starts.get(index);
    if (start === undefined) {
      start = startOfDay(this.zone, this.firstDayOf(index));
      if (this.starts.size === MAX_STARTS) this.starts.clear();
      this.starts.set(index, start);
    }
    return start;
  }
}

/** About the year of a day, with its fraction. */
function yearOf(day: number): number {
  return 1970 + day / 365.2425;
}

/** The first instant at which a zone's calendar shows this day or a later one, epoch ms. */
function startOfDay(zone: string, day: number): number {
  const midnight = day * DAY;
  let from = midnight - FURTHEST;
  let offset = offsetOf(zone, from);
  for (;;) {
    // The instant of midnight in the zone, unless the offset changes before that instant.
    const start = Math.max(from, midnight - offset);
    if (offsetOf(zone, start) === offset) return start;
    from = changeOf(zone, from, start, offset);
    offset = offsetOf(zone, from);
    if (from + offset >= midnight) return from;
  }
}

/** The first instant after `from`, and not after `to`, at which the offset is another one. */
function changeOf(zone: string, from: number, to: number, offset: number): number {
  let [low, high] = [from / 1000, to / 1000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetOf(zone, middle * 1000) === offset) low = middle;
    else high = middle;
  }
  return high * 1000;
}
