/**
 * The items of `usage`: from an instant to an instant, or the month of a time zone. Usage is counted in
 * spans, so each bound has to be one of a span. Otherwise, a span would be part of two items, and be billed
 * twice.
 */
import { Calendar } from "../../../core/calendar.js";
import { HOUR, MINUTE } from "../../../core/durations.js";
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import { spanAt, type UsageTerms } from "../../../core/rows/usage.js";
import { zoneName } from "../../../core/zone-offset.js";
import type { UsageOptions } from "../types/usage.js";

/** The most spans of one call: more than a month of minutes. */
const MOST_SPANS = 50_000;

type Every = Pick<UsageTerms, "every">;
type Options = Pick<UsageOptions, "from" | "to" | "month" | "timeZone" | "every">;

/**
 * The bounds of the items, in order: each item ends where the next one starts.
 *
 * @throws RateLimitConfigError for bounds that are within a span, and for options that do not go together.
 */
export function boundsOf(terms: Every, options: Options): readonly number[] {
  const { month, timeZone, every: ofItem } = options;
  if (month !== undefined) return boundsOfMonth(terms, { ...options, month });
  if (timeZone !== undefined) throw withMonth("timeZone", timeZone);
  if (ofItem === "day") throw withMonth("every", ofItem);
  const [first, end] = spansOf(terms, options.from!, options.to!);
  return stepsOf(first, end, lengthOfItem(terms, ofItem));
}

/** @throws RateLimitConfigError for a length that is no multiple of a span. */
export function lengthOfItem({ every }: Every, option?: number | "day"): number {
  const each = option ?? every;
  if (Number.isSafeInteger(each) && Number(each) >= every && Number(each) % every === 0) {
    return Number(each);
  }
  const problem = `a multiple of the limit's usage.every, ${every}`;
  throw new RateLimitConfigError("every", option, problem);
}

/**
 * The start of the first span, and the end of the last span.
 *
 * @throws RateLimitConfigError for values that are no instants, that are within a span, or that are too far
 * apart.
 */
export function spansOf(terms: Every, from: number, to: number): [first: number, end: number] {
  checkBounds(terms, from, to);
  checkLength(terms, "from", from, to);
  return [from, to];
}

/** @throws RateLimitConfigError for values that are no instants, or that are within a span. */
export function checkBounds(terms: Every, from: number, to: number): void {
  for (const [option, value] of Object.entries({ from, to })) {
    if (Number.isSafeInteger(value)) continue;
    throw new RateLimitConfigError(option, value, "an instant, a whole number of epoch ms");
  }
  if (!(from < to)) throw new RateLimitConfigError("to", to, `after from, which is ${from}`);
  for (const [option, value] of Object.entries({ from, to })) {
    if (value % terms.every !== 0) throw withinSpan(terms, option, value);
  }
}

function boundsOfMonth(terms: Every, options: Options & { month: string }): readonly number[] {
  const { month, timeZone = "UTC", every: ofItem } = options;
  for (const option of ["from", "to"] as const) {
    if (options[option] === undefined) continue;
    const message = `${option} does not go with month, got ${describe(options[option])}: leave one of the two out`;
    throw new RateLimitConfigError(option, options[option], { message });
  }
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) {
    throw new RateLimitConfigError("month", month, 'a year and a month, such as "2030-04"');
  }
  const zone = zoneName(timeZone);
  if (zone === undefined) {
    const problem = 'the name of a time zone, such as "Europe/Berlin"';
    throw new RateLimitConfigError("timeZone", timeZone, problem);
  }
  const [first, end] = monthsOf(zone, Number(year), Number(number), 2) as [number, number];
  const bounds = ofItem === "day" ? daysOf(zone, first, end) : [first, end];
  const off = bounds.find((at) => at % terms.every !== 0);
  if (off !== undefined) throw offGrid(terms, timeZone, month, off);
  checkLength(terms, "month", first, end, month);
  return ofItem === "day" ? bounds : stepsOf(first, end, lengthOfItem(terms, ofItem));
}

/** The starts of so many months of a zone, in their order. */
function monthsOf(zone: string, year: number, month: number, count: number): number[] {
  // In the middle of the month, whatever the zone's offset is.
  const middle = new Date(0).setUTCFullYear(year, month - 1, 15);
  return new Calendar(zone, "month", 1).list(middle, count);
}

function daysOf(zone: string, first: number, end: number): number[] {
  return new Calendar(zone, "day", 1).list(first, 32).filter((at) => at <= end);
}

function stepsOf(first: number, end: number, each: number): number[] {
  const steps = Math.ceil((end - first) / each);
  return [...Array.from({ length: steps }, (_, i) => first + i * each), end];
}

function checkLength(
  { every }: Every,
  option: string,
  first: number,
  end: number,
  value: unknown = first,
): void {
  const spans = (end - first) / every;
  if (spans <= MOST_SPANS) return;
  const message =
    `from and to are too far apart: ${spans} spans of ${every} ms, and one call reads ` +
    `${MOST_SPANS}; ask for a part of it, or sum up the rows by SQL`;
  throw new RateLimitConfigError(option, value, { message });
}

function withinSpan({ every }: Every, option: string, value: number): RateLimitConfigError {
  const start = spanAt(every, value);
  const problem = `the start of a span of usage.every, ${every} ms`;
  const message = `${option} must be ${problem}, got ${value}; use ${start} or ${start + every}, or month`;
  return new RateLimitConfigError(option, value, { message });
}

function withMonth(option: string, value: unknown): RateLimitConfigError {
  const shown = option === "every" ? `every: ${describe(value)}` : option;
  const message = `${shown} goes with month, got ${describe(value)}; from and to are instants`;
  return new RateLimitConfigError(option, value, { message });
}

/** The error of a month that begins within a span. It says which spans each month of that year fits. */
function offGrid(
  { every }: Every,
  timeZone: string,
  month: string,
  at: number,
): RateLimitConfigError {
  const zone = zoneName(timeZone)!;
  const year = Number(month.slice(0, 4));
  const starts = monthsOf(zone, year, 1, 13);
  const days = daysOfYear(zone, starts[0]!, starts[12]!);
  const fitting = days.reduce(greatestDivisor, every);
  const what = at === starts[Number(month.slice(5)) - 1] ? "begins" : "has a bound";
  const where = `month ${month} of ${timeZone} ${what} at ${new Date(at).toISOString()}`;
  const message =
    `${where}, which is within a span of usage.every, ${every} ms. ` +
    (fitting < MINUTE
      ? "No usage.every would do: spans are whole minutes"
      : `Set usage.every of the limit to ${fitting} (${inWords(fitting)}): usage is counted so from then on`);
  return new RateLimitConfigError("month", month, { message });
}

function daysOfYear(zone: string, first: number, end: number): number[] {
  return new Calendar(zone, "day", 1).list(first, 367).filter((at) => at <= end);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : greatestDivisor(b, a % b);
}

/** The length by the constants of the package. */
function inWords(ms: number): string {
  const [unit, name] = ms % HOUR === 0 ? [HOUR, "HOUR"] : [MINUTE, "MINUTE"];
  return ms === unit ? name : `${ms / unit} * ${name}`;
}
