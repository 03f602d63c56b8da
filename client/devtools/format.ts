/** Numbers, durations and configs in words, for developers. */
import { capacityOf, isNever, type ShownConfig } from "../../core/config.js";
import { isCredits, MOST_CREDITS } from "../../core/rows/credits.js";
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
  if (first < 0) return "0 ms";
  const [size, unit] = UNITS[first]!;
  const text = `${Math.floor(whole / size)} ${unit}`;
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((whole % size) / next[0]) : 0;
  return rest === 0 ? text : `${text} ${rest} ${next![1]}`;
}

/** How long ago something was, in whole seconds. It does not change with every ms. */
export function formatAge(ms: number): string {
  if (Number.isNaN(ms)) return "at an unknown time";
  return ms < SECOND
    ? "less than 1 s ago"
    : `${formatDuration(Math.floor(ms / SECOND) * SECOND)} ago`;
}

/** How long it still is, in whole seconds, rounded up. */
export function formatWait(ms: number): string {
  if (isNever(ms)) return "never";
  return `in ${formatDuration(Math.ceil(Math.max(ms, 1) / SECOND) * SECOND)}`;
}

/** Two decimals, rounded down: 0.999 of a token is not a token. */
export function formatTokens(value: number): string {
  return String(Math.floor(value * 100 + 1e-6) / 100);
}

/** @param of such as `snapshot`. */
export function formatCount(count: number, of: string): string {
  return `${count} ${of}${count === 1 ? "" : "s"}`;
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Such as `token bucket: 10 per 1 min, holds 3`. */
export function formatConfig(config: ShownConfig): string {
  const { kind, rate, period, maxReserved, shards = 1, blockFor, afterBlock, shadow } = config;
  const { timeZone, weekStart } = config;
  const days = weekStart === undefined ? "" : ` from ${WEEKDAYS[weekStart]}`;
  const zone = timeZone === undefined ? "" : ` of ${timeZone}`;
  if (isCredits(config)) {
    const capacity = capacityOf(config);
    return `credits: ${capacity < MOST_CREDITS ? `holds ${capacity}` : "holds any number"}`;
  }
  const parts = [
    `${rate} per ${typeof period === "string" ? period : formatDuration(period)}${days}${zone}`,
    `holds ${capacityOf(config)}`,
  ];
  if (maxReserved !== undefined) parts.push(`may owe ${maxReserved}`);
  if (shards > 1) parts.push(`${shards} shards`);
  if (blockFor !== undefined) {
    const all = [blockFor].flat().map(formatDuration).join(", then ");
    parts.push(`closes for ${all} after a denial`);
  }
  if (afterBlock === "new window") parts.push("then a new window");
  if (shadow) parts.push("shadow: denies no call");
  return `${kind}: ${parts.join(", ")}`;
}
