/** A token bucket as it is described, in numbers that binary fractions hold exactly. */
import type { Rules } from "./moving.js";

/** ms. Rates are powers of two per second, so each step brings an exact part of a token. */
const STEP = 125;

export const BUCKET = {
  start: Date.UTC(2030, 0, 1),
  advance: (random) =>
    random.pick([STEP, STEP, 4 * STEP, 8 * STEP * random.between(1, 8), 3_600_000]),
  held(row, config, now) {
    const { rate, period, capacity = rate } = config;
    if (row === null) return { value: capacity, ts: now };
    const refilled = (Math.max(0, now - row.ts) * rate) / Number(period);
    return { value: Math.min(capacity, row.value + refilled), ts: Math.max(now, row.ts) };
  },
  wait({ value, ts }, { rate, period }, now, least) {
    return ts - now + Math.ceil(((least - value) * Number(period)) / rate);
  },
} satisfies Partial<Rules>;
