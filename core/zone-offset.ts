/**
 * The offset of a time zone from UTC, by `Intl.DateTimeFormat`. Every JavaScript runtime has it, and it
 * knows the past and the planned changes of all zones. Pages must not import this file: a server sends
 * `starts` to pages instead.
 */
import { DAY } from "./durations.js";

/** The formatters, by the zone's name. There are about 450 zones. A formatter takes 50 µs to make. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** The runtime's own names of zones, by the name that was given. */
const names = new Map<string, string>();
const MAX_NAMES = 2000;

/** The last instant of a `Date`, epoch ms. Minus this number, it is the first instant. */
const LAST_DATE = 8.64e15;

/**
 * The runtime's own name of a time zone, such as `"Europe/Berlin"` for `"europe/berlin"`.
 * `undefined` for any other value. An offset such as `"+02:00"` is not a name: some runtimes know
 * offsets, and others do not.
 */
export function zoneName(timeZone: unknown): string | undefined {
  if (typeof timeZone !== "string" || !/^[a-z]/i.test(timeZone)) return undefined;
  const known = names.get(timeZone);
  if (known !== undefined) return known;
  try {
    const name = new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone;
    // A zone can be spelled in many ways: each letter may be large or small.
    if (names.size >= MAX_NAMES) names.clear();
    names.set(timeZone, name);
    return name;
  } catch {
    return undefined;
  }
}

/**
 * How far the clocks of a zone are ahead of UTC, whole seconds in ms: negative in America.
 *
 * @param zone a {@link zoneName}.
 * @param at epoch ms, of whole seconds. Beyond the dates of JavaScript, the offset of the last date counts.
 */
export function offsetOf(zone: string, at: number): number {
  if (zone === "UTC") return 0;
  const instant = Math.min(LAST_DATE, Math.max(-LAST_DATE, at));
  const shown = formatterOf(zone).format(instant);
  // Such as "12/31/1969 AD, 19:00:00". Measured and rejected: `formatToParts`, which takes 3.5
  // times as long.
  const [month, day, year, hour, minute, second] = shown.match(/\d+/g)!.map(Number) as SixNumbers;
  // The year before 1 AD is 1 BC, and has the number 0.
  const civilYear = shown.includes("B") ? 1 - year : year;
  const local =
    dayNumber(civilYear, month, day) * DAY + ((hour * 60 + minute) * 60 + second) * 1000;
  return local - instant;
}

type SixNumbers = [number, number, number, number, number, number];

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    const numeric = "numeric";
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      era: "short",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
    formatters.set(timeZone, formatter);
  }
  return formatter;
}

/**
 * The number of a day of the calendar, counted from 1 January 1970. Works for any whole year, unlike the
 * dates of JavaScript, which end. From Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
 *
 * @param month from 1; above 12, a month of a later year.
 */
export function dayNumber(year: number, month: number, day: number): number {
  // Years from March on, so that the leap day is the last day.
  const marches = year * 12 + month - 3;
  const fromMarch = Math.floor(marches / 12);
  const monthFromMarch = marches - fromMarch * 12;
  const leapDays =
    Math.floor(fromMarch / 4) - Math.floor(fromMarch / 100) + Math.floor(fromMarch / 400);
  return fromMarch * 365 + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) + day - 719_469;
}
