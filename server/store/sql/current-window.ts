/**
 * Lets the statements of the plain path take from windows of a time zone. The statements cannot
 * calculate the bounds of such windows. So they get the present window as numbers, and the text of the
 * statements stays the same.
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

/**
 * The line as statements can take it. Each call comes by here, and the period of nearly all lines is a
 * number already.
 */
export function periodicLine(line: TakeLine, now: number): TakeLine<PeriodicConfig> {
  return typeof line.terms.config.period === "number"
    ? (line as TakeLine<PeriodicConfig>)
    : { ...line, terms: currentWindowTerms(line.terms, now) };
}

/**
 * Terms with a period that began with the present window and ends 1 ms from `now`. By these terms, a
 * row whose `ts` is in the present window, or later, has had no other window since, and holds what it
 * held. A row whose `ts` is 1 ms or more before the present window has had at least one other window,
 * and is refused. For example, the present window began at 1000, and `now` is 1500. The period is 501,
 * so a row of 1000 has had no other window, and a row of 999 has had one.
 */
export function currentWindowTerms(
  { config, floor, least, over }: TakeTerms,
  now: number,
): TakeTerms<PeriodicConfig> {
  const window = config as WindowBucket;
  const period = now - windowAt(window, now) + 1;
  const capacity = capacityOf(config);
  const present = { kind: "fixed window", rate: REFUSED_REFILL, period, capacity } as const;
  // `own` follows from the rate of the row's config, and not from the rate of these terms.
  return { config: present, floor, least, over, own: ownOf(config) };
}
