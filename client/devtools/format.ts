/** Numbers, durations and instants in words, for developers. */
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";

/** Units by size, the largest first. */
const UNITS = [
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "min"],
  [SECOND, "s"],
  [1, "ms"],
] as const;

/** The two largest units of a duration in ms, such as `2 min 5 s`. */
export function formatDuration(ms: number): string {
  const whole = Math.round(ms);
  const first = UNITS.findIndex(([size]) => whole >= size);
  if (first < 0) return "less than 1 ms";
  const [size, unit] = UNITS[first]!;
  const text = `${Math.floor(whole / size)} ${unit}`;
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((whole % size) / next[0]) : 0;
  return rest === 0 ? text : `${text} ${rest} ${next![1]}`;
}

/**
 * How long ago something was, in whole seconds, so that the text does not change with every ms.
 *
 * @param isAtLeast whether it may be longer ago, because the server's clock may be further on.
 */
export function formatAge(ms: number, isAtLeast: boolean = false): string {
  if (Number.isNaN(ms)) return "at an unknown time";
  const age = ms < SECOND ? "less than 1 s" : formatDuration(Math.floor(ms / SECOND) * SECOND);
  // By a clock that may be behind, an age below one second says nothing.
  if (isAtLeast) return ms < SECOND ? "some time ago" : `at least ${age} ago`;
  return `${age} ago`;
}

/** The rest of a wait in whole seconds, rounded up, so that a wait that goes on is never 0 s. */
export function formatRest(ms: number): string {
  return formatDuration(Math.ceil(Math.max(ms, 1) / SECOND) * SECOND);
}

/** Such as `in 7 s`, and at least `in 1 s`. */
export function formatWait(ms: number): string {
  return `in ${formatRest(ms)}`;
}

/** An instant by this machine's clock and time zone, such as `26 Nov 2026, 09:00:05`. */
export function formatInstant(ms: number): string {
  // In one language for all places, with the name of the month: so no day is taken for a month.
  return new Date(ms).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** Two decimals, rounded down: 0.999 of a token is not a token. */
export function formatTokens(value: number): string {
  return String(Math.floor(value * 100 + 1e-6) / 100);
}

/** The least number with two decimals that is enough. */
export function formatMissing(value: number): string {
  return String(Math.ceil(value * 100 - 1e-6) / 100);
}

/** @param of the word for one, such as `snapshot`. */
export function formatCount(count: number | string, of: string): string {
  return `${count} ${of}${Number(count) === 1 ? "" : "s"}`;
}
