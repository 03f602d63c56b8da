/** A limit by calendar months, from the 31st at noon. In shorter months that is their last day. */
import { createMoving } from "./moving.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** When a month begins, by its number since December 2029. */
function startOf(month: number): number {
  const lastDay = new Date(Date.UTC(2029, 12 + month, 0)).getUTCDate();
  return Date.UTC(2029, 11 + month, Math.min(31, lastDay), 12);
}

function monthOf(now: number): number {
  let month = 0;
  while (startOf(month + 1) <= now) month++;
  return month;
}

const RATE = 5;
const CAPACITY = 12;

export const months = createMoving({
  what: "months",
  configs: [
    { kind: "fixed window", period: "month", rate: RATE, capacity: CAPACITY, start: startOf(0) },
  ],
  start: startOf(0) + DAY,
  advance(random, now) {
    const next = startOf(monthOf(now) + 1) - now;
    return random.pick([HOUR, 2 * DAY, next - 1, next, next + 1, 28 * DAY, 31 * DAY]);
  },
  held(row, _config, now) {
    const month = monthOf(now);
    if (row === null) return { value: CAPACITY, ts: startOf(month) };
    const was = monthOf(row.ts);
    const value = Math.min(CAPACITY, row.value + Math.max(0, month - was) * RATE);
    return { value, ts: startOf(Math.max(month, was)) };
  },
  wait({ value, ts }, _config, now, least) {
    return startOf(monthOf(ts) + Math.ceil((least - value) / RATE)) - now;
  },
});
