/** Validates the options of days, weeks and months. Its errors name the option that does not fit. */
import type { AnyLimit } from "./limit-config.js";
import { RateLimitConfigError } from "./errors.js";
import { zoneName } from "./zone-offset.js";

/** The periods of a calendar. */
export const CALENDAR_PERIODS: ReadonlySet<unknown> = new Set(["day", "week", "month"]);

/** @throws RateLimitConfigError quoting the option and its value. */
export function validateCalendar(config: AnyLimit, path: string): void {
  const { kind, period, timeZone, weekStart, start } = config;
  // In plain JavaScript, a token bucket may have these options.
  const isCalendar = kind === "fixed window" && CALENDAR_PERIODS.has(period);
  const demand = (holds: boolean, option: string, value: unknown, requirement: string) => {
    if (!holds) throw new RateLimitConfigError(`${path}.${option}`, value, requirement);
  };
  if (timeZone !== undefined) {
    const where = 'left out, or go with a fixed window whose period is "day", "week" or "month"';
    demand(isCalendar, "timeZone", timeZone, where);
    const name = 'the name of a time zone, such as "Europe/Berlin"';
    demand(zoneName(timeZone) !== undefined, "timeZone", timeZone, name);
  }
  if (weekStart !== undefined) {
    const isWeek = isCalendar && period === "week";
    demand(isWeek, "weekStart", weekStart, 'left out, or go with a period of "week"');
    const isDay = Number.isInteger(weekStart) && weekStart >= 0 && weekStart <= 6;
    demand(isDay, "weekStart", weekStart, "a whole number from 0, which is Sunday, to 6");
  }
  if (start !== undefined && isCalendar) {
    const isUtcMonth = period === "month" && timeZone === undefined;
    const reason = "left out of days, weeks and months of a time zone, which start at midnight";
    demand(isUtcMonth, "start", start, reason);
  }
}
