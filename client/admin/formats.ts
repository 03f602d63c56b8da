/** Numbers, times and waits in the reader's language, by `Intl`. */
import { capacityOf, isNever, type ShownConfig } from "../../core/config.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";
import type { AdminPlan } from "./admin-types.js";

/** The largest unit first. */
const UNITS = [
  [DAY, "day"],
  [HOUR, "hour"],
  [MINUTE, "minute"],
  [SECOND, "second"],
] as const;
/** Beyond this, a wait is told by the clock: "11 h 48 min" says less than "23:30". */
const BY_THE_CLOCK = 12 * HOUR;
/** Beyond this, an instant is told without its hour. */
const BY_THE_DATE = 180 * DAY;

export interface Formats {
  /** Such as `1,200`. At most two decimals, rounded down: 0.999 of a token is no token. */
  number(value: number): string;
  /** Such as `98.2%`. Only nothing is 0 %, and only all is 100 %. */
  percent(part: number): string;
  /** Such as `14:00 to 15:00`. */
  between(from: number, to: number): string;
  /** The time of day; with the weekday or the date where `at` is not today. */
  time(at: number): string;
  /** The time of day with seconds; with the date where `at` is not today. */
  exactTime(at: number): string;
  /** The two largest units, such as `2m 5s`. */
  duration(ms: number): string;
  /** A wait from now on: `2m 5s`, beyond 12 hours its end such as `Tue 09:00`, or `no end`. */
  wait(ms: number): string;
  /** The same as words about a key: `may go on in 2m 5s`, `may go on at Tue 09:00`. */
  goesOn(ms: number): string;
  /** Such as `10 per 1m, holds 3`; also for the terms of a plan. */
  config(config: ShownConfig | AdminPlan["terms"], kind: string): string;
  /** The text below a bar of the chart. */
  tick(at: number, isByDay: boolean): string;
}

/** @param locale as `Intl` takes it; `undefined` for the browser's. */
export function createFormats(locale: string | undefined): Formats {
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const percents = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  const clock = format({ hour: "2-digit", minute: "2-digit" });
  const seconds = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const weekday = format({ weekday: "short", hour: "2-digit", minute: "2-digit" });
  const date = format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const far = format({ dateStyle: "medium" });
  const days = format({ weekday: "short", day: "numeric" });
  const units = new Map(
    UNITS.map(([, unit]) => [
      unit,
      new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "narrow" }),
    ]),
  );

  function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    return new Intl.DateTimeFormat(locale, options);
  }
  const number = (value: number) => numbers.format(Math.floor(value * 100 + 1e-6) / 100);
  const isToday = (at: number) => new Date(at).toDateString() === new Date().toDateString();

  function time(at: number): string {
    if (isToday(at)) return clock.format(at);
    const away = Math.abs(at - Date.now());
    if (away < 6 * DAY) return weekday.format(at);
    return away < BY_THE_DATE ? date.format(at) : far.format(at);
  }

  function duration(ms: number): string {
    let rest = Math.ceil(Math.max(ms, 1) / SECOND) * SECOND;
    const first = UNITS.findIndex(([size]) => rest >= size);
    return UNITS.slice(first, first + 2)
      .flatMap(([size, unit]) => {
        const whole = Math.floor(rest / size);
        rest %= size;
        return whole === 0 ? [] : units.get(unit)!.format(whole);
      })
      .join(" ");
  }

  function wait(ms: number): string {
    if (isNever(ms)) return "no end";
    return ms > BY_THE_CLOCK ? time(Date.now() + ms) : duration(ms);
  }

  return {
    number,
    percent: (part) =>
      percents.format(part <= 0 || part >= 1 ? part : Math.min(0.999, Math.max(0.001, part))),
    between: (from, to) => `${time(from)} to ${time(to)}`,
    time,
    exactTime: (at) => (isToday(at) ? seconds.format(at) : date.format(at)),
    duration,
    wait,
    goesOn: (ms) =>
      isNever(ms)
        ? "does not go on by itself"
        : `may go on ${ms >= BY_THE_DATE ? "from" : ms > BY_THE_CLOCK ? "at" : "in"} ${wait(ms)}`,
    config: (config, kind) => configText(config, kind, number, duration),
    tick: (at, isByDay) => (isByDay ? days : clock).format(at),
  };
}

function configText(
  config: ShownConfig | AdminPlan["terms"],
  kind: string,
  number: Formats["number"],
  duration: Formats["duration"],
): string {
  if (config === "unlimited") return config;
  if (config === "none") return "not included";
  if ("slots" in config && kind === "concurrency") return `${number(config.slots!)} at a time`;
  if (kind === "credits") return "credits";
  const { rate, period } = config as ShownConfig;
  const span = typeof period === "string" ? period : duration(period);
  const capacity = capacityOf(config as ShownConfig);
  const holds = capacity === rate ? "" : `, holds ${number(capacity)}`;
  return `${number(rate)} per ${span}${holds}`;
}
