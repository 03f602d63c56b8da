/**
 * Lets the statements of the plain path take from windows of a time zone, whose bounds they could not
 * calculate. They get the present window as numbers, and the text of the statements stays the same.
 */
import { capacityOf, type PeriodicConfig, type WindowBucket } from "../../../core/config.js";
import { windowAt } from "../../../core/windows.js";
import { REFUSED_REFILL } from "../plain-path.js";
import type { TakeLine, TakeTerms } from "../row-access.js";
import { ownOf } from "../take-terms.js";

/** The lines as statements can take them. */
export function periodicLines(
  lines: readonly TakeLine[],
  now: number,
): readonly TakeLine<PeriodicConfig>[] {
  return lines.every(isPeriodic) ? lines : lines.map((line) => periodicLine(line, now));
}

/** Whether the windows of a line can be calculated from a period in ms. */
export function isPeriodic(line: TakeLine): line is TakeLine<PeriodicConfig> {
  return typeof line.terms.config.period === "number";
}

/** Each call comes by here, and nearly all lines are as they have to be. */
export function periodicLine(line: TakeLine, now: number): TakeLine<PeriodicConfig> {
  return typeof line.terms.config.period === "number"
    ? (line as TakeLine<PeriodicConfig>)
    : { ...line, terms: currentWindowTerms(line.terms, now) };
}

/**
 * Terms of windows by which a row of the present window, or of a later instant, has had no window
 * since: it holds what it held. A row that is a whole ms older has had one at least, and is refused.
 */
export function currentWindowTerms(
  { config, floor, least }: TakeTerms,
  now: number,
): TakeTerms<PeriodicConfig> {
  const window = config as WindowBucket;
  const period = now - windowAt(window, now) + 1;
  const capacity = capacityOf(config);
  const present = { kind: "fixed window", rate: REFUSED_REFILL, period, capacity } as const;
  // What belongs to the config follows from its own rate.
  return { config: present, floor, least, own: ownOf(config) };
}
