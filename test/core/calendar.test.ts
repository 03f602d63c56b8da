/**
 * Days, weeks and months in time zones, against a slow search that asks for the date of every minute.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Calendar } from "../../core/calendar.js";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { cases } from "../support/cases.js";

type Period = "day" | "week" | "month";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/London",
  "Europe/Dublin",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "America/Havana",
  "America/Asuncion",
  "Atlantic/Azores",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Africa/Monrovia",
  "Asia/Beirut",
  "Asia/Gaza",
  "Asia/Tehran",
  "Asia/Kathmandu",
  "Asia/Pyongyang",
  "Asia/Manila",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kwajalein",
  "Pacific/Kiritimati",
  "Antarctica/Troll",
];

/** The date that a zone shows, as `2030-12-31`. */
function dateIn(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
  return (at) => format.format(at);
}

/** A text that is larger in each later window. */
function windowOfDate(date: string, period: Period, weekStart: number): string {
  if (period === "month") return date.slice(0, 7);
  if (period === "day") return date;
  const day = new Date(`${date}T00:00Z`);
  const sinceStart = (day.getUTCDay() + 7 - weekStart) % 7;
  return new Date(day.getTime() - sinceStart * DAY).toISOString().slice(0, 10);
}

/** The starts of windows after `from` and up to `to`: whenever a later window is shown than before. */
function slowStarts(
  timeZone: string,
  period: Period,
  weekStart: number,
  from: number,
  to: number,
): number[] {
  const date = dateIn(timeZone);
  const shown = (at: number) => windowOfDate(date(at), period, weekStart);
  const starts: number[] = [];
  let latest = "";
  // A day before, because a clock that was put back can show a day for the second time.
  for (let at = from - DAY; at <= to; at += MINUTE) {
    if (shown(at) <= latest) continue;
    if (latest !== "" && at > from) {
      let start = at - MINUTE;
      while (shown(start) <= latest) start += 1000;
      starts.push(start);
    }
    latest = shown(at);
  }
  return starts.filter((start) => start > from && start <= to);
}

function fastStarts(calendar: Calendar, from: number, to: number): number[] {
  const starts = calendar.list(from, 12);
  return starts.filter((start) => start > from && start <= to);
}

const anyInstant = fc
  .integer({ min: Date.UTC(1905) / MINUTE, max: Date.UTC(2060) / MINUTE })
  .map((minutes) => minutes * MINUTE);
const anyZone = fc.constantFrom(...ZONES);
const anyWeekStart = fc.integer({ min: 0, max: 6 });
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

/** The starts of days from the noon of a date on. */
function daysFrom(timeZone: string, date: string, count: number): string[] {
  const calendar = new Calendar(timeZone, "day", 1);
  return calendar.list(Date.parse(`${date}T12:00Z`), count).map(iso);
}

describe("a day of a time zone", () => {
  it.each([
    ["23 hours", "Europe/Berlin", "2030-03-30", "03-29T23:00, 03-30T23:00, 03-31T22:00"],
    ["25 hours", "America/New_York", "2030-11-02", "11-02T04:00, 11-03T04:00, 11-04T05:00"],
    ["24.5 hours", "Australia/Lord_Howe", "2030-04-06", "04-05T13:00, 04-06T13:00, 04-07T13:30"],
    ["no midnight", "America/Sao_Paulo", "2018-11-03", "11-03T03:00, 11-04T03:00, 11-05T02:00"],
    ["no midnight", "Asia/Beirut", "2022-03-26", "03-25T22:00, 03-26T22:00, 03-27T21:00"],
    ["no midnight", "Africa/Cairo", "2024-04-25", "04-24T22:00, 04-25T22:00"],
    // At one minute past midnight, the clock was put back to one minute past eleven.
    ["two midnights", "America/St_Johns", "2007-11-03", "11-03T02:30, 11-04T02:30, 11-05T03:30"],
    ["two midnights", "America/Havana", "2023-11-04", "11-04T04:00, 11-05T04:00, 11-06T05:00"],
  ])("starts with its first instant, also one with %s: %s, %s", (_, zone, date, listed) => {
    const starts = listed.split(", ").map((start) => `${date.slice(0, 5)}${start}`);
    expect(daysFrom(zone, date, starts.length)).toEqual(starts);
  });

  it("that a zone has left out has no window: Samoa, 30 December 2011", () => {
    const calendar = new Calendar("Pacific/Apia", "day", 1);
    const starts = ["2011-12-28T10:00", "2011-12-29T10:00", "2011-12-30T10:00", "2011-12-31T10:00"];
    expect(daysFrom("Pacific/Apia", "2011-12-28", 4)).toEqual(starts);
    const [first, , , last] = starts.map((start) => Date.parse(`${start}Z`));
    expect(calendar.since(first!, last!)).toBe(3);
    expect(calendar.after(first!, 3)).toBe(last);
    expect(calendar.after(first!, 2)).toBe(Date.parse("2011-12-30T10:00Z"));
  });

  it("has its window once, where a zone has gone back by 23 hours: Kwajalein, 1969", () => {
    expect(daysFrom("Pacific/Kwajalein", "1969-09-29", 3)).toEqual([
      "1969-09-28T13:00",
      "1969-09-29T13:00",
      "1969-10-01T12:00",
    ]);
  });
});

describe("a week and a month of a time zone", () => {
  it("start on the day that was chosen, at its midnight", () => {
    const starts = (weekStart: number) =>
      new Calendar("Europe/Berlin", "week", weekStart).list(Date.UTC(2030, 2, 27, 12), 2).map(iso);
    expect(starts(1)).toEqual(["2030-03-24T23:00", "2030-03-31T22:00"]);
    expect(starts(0)).toEqual(["2030-03-23T23:00", "2030-03-30T23:00"]);
    const months = new Calendar("Europe/Berlin", "month", 1);
    expect(months.list(Date.UTC(2030, 2, 27), 2).map(iso)).toEqual([
      "2030-02-28T23:00",
      "2030-03-31T22:00",
    ]);
  });
});

describe("windows of a time zone", () => {
  it.each<[Period, number, number]>([
    ["day", 3, 120],
    ["week", 9, 40],
    ["month", 33, 12],
  ])(
    "of a %s are those that a search through all minutes finds",
    (period, days, numRuns) => {
      fc.assert(
        fc.property(anyZone, anyWeekStart, anyInstant, (timeZone, weekStart, from) => {
          const to = from + days * DAY;
          const calendar = new Calendar(timeZone, period, weekStart);
          const slow = slowStarts(timeZone, period, weekStart, from, to);
          expect(fastStarts(calendar, from, to).map(iso)).toEqual(slow.map(iso));
          expect(fastStarts(calendar, from, to)).toEqual(slow);
        }),
        { numRuns },
      );
    },
    60_000,
  );

  it("are found around each change of the clock, too", () => {
    const changes: [string, number][] = ZONES.flatMap((timeZone) => {
      const hour = new Intl.DateTimeFormat("en-GB", { timeZone, timeStyle: "short" });
      // A few years in which many zones have changed their rules.
      return [1969, 1993, 2011, 2022].flatMap((year) => {
        const days = Array.from({ length: 365 }, (_, i) => Date.UTC(year, 0, 1) + i * DAY);
        return days
          .filter((at) => hour.format(at) !== hour.format(at + DAY))
          .map((at): [string, number] => [timeZone, at - DAY]);
      });
    });
    expect(changes.length).toBeGreaterThan(50);
    fc.assert(
      fc.property(fc.constantFrom(...changes), ([timeZone, from]) => {
        const to = from + 3 * DAY;
        const calendar = new Calendar(timeZone, "day", 1);
        expect(fastStarts(calendar, from, to)).toEqual(slowStarts(timeZone, "day", 1, from, to));
      }),
      { numRuns: cases(80) },
    );
  }, 60_000);

  it("are counted as they follow each other, from any instant to any other", () => {
    const farInstant = fc.integer({ min: -8.6e15, max: 8.6e15 });
    const anyPeriod = fc.constantFrom<Period>("day", "week", "month");
    const near = fc.oneof(anyInstant, anyInstant, farInstant);
    fc.assert(
      fc.property(
        anyZone,
        anyPeriod,
        anyWeekStart,
        near,
        fc.integer({ min: 0, max: 3000 }),
        (timeZone, period, weekStart, at, count) => {
          const calendar = new Calendar(timeZone, period, weekStart);
          const start = calendar.at(at);
          expect(start).toBeLessThanOrEqual(at);
          expect(calendar.at(start)).toBe(start);
          expect(calendar.after(start, 1)).toBeGreaterThan(at);
          const later = calendar.after(start, count);
          expect(calendar.at(later)).toBe(later);
          expect(calendar.since(start, later)).toBe(count);
          if (count > 0) expect(calendar.since(start, later - 1)).toBe(count - 1);
          // A row within a window keeps it, and the next one.
          if (start === at) return;
          const next = calendar.after(start, 1);
          expect(calendar.from(at)).toBe(next);
          expect(calendar.since(at, next)).toBe(0);
          expect(calendar.after(at, 1)).toBe(calendar.after(next, 1));
        },
      ),
      { numRuns: cases(500) },
    );
  });

  it("exist beyond the dates of JavaScript, where a wait has no end", () => {
    for (const period of ["day", "week", "month"] as const) {
      for (const timeZone of ["UTC", "America/New_York"]) {
        const calendar = new Calendar(timeZone, period, 1);
        for (const at of [9e15, -9e15, 2 ** 53]) {
          expect(Math.abs(calendar.at(at) - at)).toBeLessThan(32 * DAY);
        }
        expect(calendar.since(0, Infinity)).toBeGreaterThan(1e6);
        expect(calendar.after(0, Infinity)).toBe(Infinity);
        expect(calendar.at(1e300)).toBeGreaterThan(9e15);
      }
    }
  });

  it("are at most a few hours longer or shorter than on the calendar", () => {
    fc.assert(
      fc.property(anyZone, anyInstant, (timeZone, at) => {
        fc.pre(at > Date.UTC(1995, 1, 1) && (timeZone !== "Pacific/Apia" || at > Date.UTC(2012)));
        const calendar = new Calendar(timeZone, "day", 1);
        const length = calendar.after(calendar.at(at), 1) - calendar.at(at);
        expect(Math.abs(length - DAY)).toBeLessThanOrEqual(2 * HOUR);
      }),
      { numRuns: cases(300) },
    );
  });
});
