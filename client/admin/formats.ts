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

export interface Formats {
  /** Such as `1,200`. At most two decimals, rounded down: 0.999 of a token is no token. */
  number(value: number): string;
  /** The time of day; with the weekday or the date where `at` is not today. */
  time(at: number): string;
  /** The time of day with seconds; with the date where `at` is not today. */
  exactTime(at: number): string;
  /** The two largest units, such as `2m 5s`. */
  duration(ms: number): string;
  /** A wait from now on: `2m 5s`, beyond 12 hours its end such as `Tue 09:00`, or `no end`. */
  wait(ms: number): string;
  /** Such as `10 per 1m, holds 3`; also for the terms of a plan. */
  config(config: ShownConfig | AdminPlan["terms"], kind: string): string;
  /** The text below a bar of the chart. */
  tick(at: number, isByDay: boolean): string;
}

/** @param locale as `Intl` takes it; `undefined` for the browser's. */
export function createFormats(locale: string | undefined): Formats {
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
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
    return away < 180 * DAY ? date.format(at) : far.format(at);
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

  return {
    number,
    time,
    exactTime: (at) => (isToday(at) ? seconds.format(at) : date.format(at)),
    duration,
    wait: (ms) => {
      if (isNever(ms)) return "no end";
      return ms > BY_THE_CLOCK ? time(Date.now() + ms) : duration(ms);
    },
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
