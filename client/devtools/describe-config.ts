/** Configs in words, and what a config says beside its numbers. */
import { capacityOf, type ShownConfig } from "../../core/config.js";
import { HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { isCredits, MOST_CREDITS } from "../../core/rows/credits.js";
import { formatDuration } from "./format.js";

/** The periods that have a word of their own. */
const PERIODS = new Map<ShownConfig["period"], string>([
  [SECOND, "second"],
  [MINUTE, "minute"],
  [HOUR, "hour"],
  // A day of the calendar may have 23 hours, so 24 hours are no "day".
  ["day", "day"],
  ["week", "week"],
  ["month", "month"],
]);
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/**
 * The end of the block by an override, epoch ms on the server's clock; `Infinity` for a block without an
 * end, `undefined` for a limit that is not blocked. The server shows a blocked limit as a bucket that is
 * empty until a single window starts. Windows of a calendar are a longer list.
 */
export function blockedUntil(config: ShownConfig): number | undefined {
  const { starts, slots, period } = config;
  if (!starts || starts.length > 1 || slots !== undefined || typeof period === "string") {
    return undefined;
  }
  return starts[0] ?? Infinity;
}

/** The most that the limit holds; `undefined` for credits without a capacity of their own. */
export function boundOf(config: ShownConfig): number | undefined {
  const capacity = capacityOf(config);
  return isCredits(config) && capacity >= MOST_CREDITS ? undefined : capacity;
}

/** The unit that the limit counts, in the singular. */
export function unitOf(config: ShownConfig): "credit" | "slot" | "token" {
  if (isCredits(config)) return "credit";
  return config.slots === undefined ? "token" : "slot";
}

/** Such as `token bucket: 10 per minute, holds up to 3`. */
export function describeConfig(config: ShownConfig): string {
  const { maxReserved, shards = 1, blockFor, afterBlock, shadow, slots } = config;
  const parts: string[] = [];
  if (slots !== undefined) {
    parts.push(
      `${slots} at once`,
      `free after ${formatDuration(config.period as number)} without a renewal`,
    );
  } else if (blockedUntil(config) !== undefined) {
    return "blocked by an override, which hides the limit's own config";
  } else {
    if (!isCredits(config)) parts.push(ratePart(config));
    const bound = boundOf(config);
    parts.push(bound === undefined ? "holds any number" : `holds up to ${bound}`);
  }
  if (maxReserved !== undefined) parts.push(`may owe up to ${maxReserved}`);
  if (shards > 1) parts.push(`spread over ${shards} shards`);
  if (blockFor !== undefined) {
    const all = [blockFor].flat().map(formatDuration).join(", then ");
    parts.push(`closes for ${all} after a denial`);
  }
  if (afterBlock === "new window") parts.push("then a new window");
  // The server shows a caller that an override has exempted in the same way.
  if (shadow) parts.push("denies no call: a shadow, or an override exempts this caller");
  return `${slots === undefined ? config.kind : "slots"}: ${parts.join(", ")}`;
}

function ratePart({ rate, period, timeZone, weekStart }: ShownConfig): string {
  const days = weekStart === undefined ? "" : ` from ${WEEKDAYS[weekStart]}`;
  const zone = timeZone === undefined ? "" : ` in ${timeZone}`;
  return `${rate} per ${PERIODS.get(period) ?? formatDuration(Number(period))}${days}${zone}`;
}
