/** A token bucket as documented, in numbers that binary fractions represent exactly. */
import type { Rules } from "./moving.js";

/** ms. Rates are powers of two per second, so each step brings an exact part of a token. */
const STEP = 125;

export const BUCKET = {
  start: Date.UTC(2030, 0, 1),
  advance: (random) =>
    random.pick([STEP, STEP, 4 * STEP, 8 * STEP * random.between(1, 8), 3_600_000]),
  at: (now) => now,
  refilled: (ts, { rate, period }, now) => ((now - ts) * rate) / Number(period),
  since: (tokens, { rate, period }, now) => now - (tokens * Number(period)) / rate,
  wait({ value, ts }, { rate, period }, now, least) {
    return ts - now + Math.ceil(((least - value) * Number(period)) / rate);
  },
} satisfies Partial<Rules>;
