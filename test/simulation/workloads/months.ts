/**
 * Limits by calendar months, with two plans. For some processes, months start on the 31st at noon, UTC,
 * and in shorter months on the last day. For the other processes, months start on the first at midnight
 * in New York.
 */
import type { Workload } from "./context.js";
import { createMoving } from "./moving.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PLANS = {
  free: { rate: 5, capacity: 12 },
  pro: { rate: 8, capacity: 30 },
};

/** When a month begins, by its number since December 2029. */
type StartOf = (month: number) => number;

function createMonths(
  startOf: StartOf,
  windows: { start: number } | { timeZone: string },
): Workload {
  const monthOf = (now: number) => {
    let month = 0;
    while (startOf(month + 1) <= now) month++;
    return month;
  };
  return createMoving({
    what: "months",
    limit: { kind: "fixed window", period: "month", plans: PLANS, ...windows },
    start: startOf(0) + DAY,
    advance(random, now) {
      const next = startOf(monthOf(now) + 1) - now;
      return random.pick([HOUR, 2 * DAY, next - 1, next, next + 1, 28 * DAY, 31 * DAY]);
    },
    at: (now) => startOf(monthOf(now)),
    refilled: (ts, { rate }, now) => (monthOf(now) - monthOf(ts)) * rate,
    wait({ value, ts }, { rate }, now, least) {
      return startOf(monthOf(ts) + Math.ceil((least - value) / rate)) - now;
    },
  });
}

function onThe31st(month: number): number {
  const lastDay = new Date(Date.UTC(2029, 12 + month, 0)).getUTCDate();
  return Date.UTC(2029, 11 + month, Math.min(31, lastDay), 12);
}

function inNewYork(month: number): number {
  // From April to November, the first of the month is in summer time.
  const ofYear = (11 + month) % 12;
  return Date.UTC(2029, 11 + month, 1, ofYear >= 3 && ofYear <= 10 ? 4 : 5);
}

const utc = createMonths(onThe31st, { start: onThe31st(0) });
const newYork = createMonths(inNewYork, { timeZone: "America/New_York" });

export const months: Workload = (caller) =>
  Number(caller.member.id.slice(1)) % 2 === 0 ? utc(caller) : newYork(caller);
