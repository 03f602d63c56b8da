/**
 * The algebra: two numbers, a config and an instant give the tokens held and the wait until there
 * are enough. Nothing else in the package computes tokens; the server, its stores and the browser
 * all come here, so that what one predicts the other decides. The formulas are those of Ian
 * Macartney, "Implementing Rate Limiting with only two numbers" (stack.convex.dev/rate-limiting).
 */
import { capacityOf, type RateLimitConfig } from "./config.js";
import { validateCount } from "./count.js";

/** A row: how many tokens there were, negative while some are owed, at `ts`, epoch ms. */
export interface RateLimitState {
  value: number;
  ts: number;
}

export interface CalculatedRateLimit extends RateLimitState {
  /** Whole ms until `value` would not be negative; `undefined` when it is not. */
  retryAfter: number | undefined;
  /** Fixed windows: the start of a window, from which the others follow. */
  windowStart: number | undefined;
}

/**
 * What a bucket would hold after `count` tokens were taken from it at `now`.
 *
 * - `value`: the tokens left, negative when there were not enough. Whether that is allowed (as a
 *   reservation) is for the caller to decide, see `decideRateLimit`.
 * - `ts`: the instant of `value`: `now` for a token bucket, the start of the current window for a
 *   fixed window, and never less than `existing.ts`, whatever the clock does.
 * - `retryAfter`: the smallest whole number of ms after which the same call, on the same state,
 *   gives no negative value. For a `count` above capacity, the ms until the debt is repaid.
 *
 * @param existing the row, or `null` where there is none yet: the bucket is full.
 * @param config trusted, see `validateConfig`.
 * @param now epoch ms.
 * @param count tokens to take, finite and at least 0.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function calculateRateLimit(
  existing: RateLimitState | null,
  config: RateLimitConfig,
  now: number = Date.now(),
  count: number = 0,
): CalculatedRateLimit {
  validateCount(count);
  const state = existing ?? initialState(config, now);
  const held = stateAt(state, config, now);
  const value = held.value - count;
  const retryAfter = value < 0 ? waitFor(state, config, now, count, 0) : undefined;
  const windowStart =
    config.kind === "fixed window" ? (existing?.ts ?? config.start ?? held.ts) : undefined;
  return { value, ts: held.ts, retryAfter, windowStart };
}

/**
 * Whole ms from `now` until taking `count` tokens leaves at least `floor` (0, or minus what may be
 * owed). Call it only where that is not so at `now`.
 *
 * A quotient of doubles can be off by a little either way, and by many ms where a token takes
 * years, so it only serves as a first guess. Refilling is monotone in time even after rounding;
 * hence a search around the guess finds the very ms at which {@link stateAt} will agree.
 */
export function waitFor(
  state: RateLimitState,
  config: RateLimitConfig,
  now: number,
  count: number,
  floor: number,
): number {
  const held = stateAt(state, config, now);
  const after = held.value - count;
  // Past its capacity a bucket cannot grow towards `count`: what is awaited is that the debt,
  // once taken, is repaid.
  const awaited =
    capacityOf(config) - count >= floor
      ? (wait: number) => stateAt(state, config, now + wait).value - count >= floor
      : (wait: number) => stateAt({ value: after, ts: held.ts }, config, now + wait).value >= floor;
  const missing = floor - after;
  const guess =
    config.kind === "token bucket"
      ? held.ts - now + (missing / config.rate) * config.period
      : held.ts - now + Math.ceil(missing / config.rate) * config.period;
  return firstWhole(Math.ceil(guess), awaited);
}

/** Where a bucket without a row stands: full, in a window in step with `start`. */
export function initialState(config: RateLimitConfig, now: number): RateLimitState {
  const value = capacityOf(config);
  if (config.kind === "token bucket") return { value, ts: now };
  const start = config.start ?? 0;
  return { value, ts: start + Math.floor((now - start) / config.period) * config.period };
}

/** The tokens held at `now`. Time before `state.ts` is taken for `state.ts`: no refill, no drain. */
export function stateAt(
  state: RateLimitState,
  config: RateLimitConfig,
  now: number,
): RateLimitState {
  const elapsed = Math.max(0, now - state.ts);
  // Multiplied before it is divided: 6,000 ms at 10 per 60,000 ms are 1 token, not a little less.
  if (config.kind === "token bucket") {
    const refilled = state.value + (elapsed * config.rate) / config.period;
    return { value: Math.min(refilled, capacityOf(config)), ts: Math.max(now, state.ts) };
  }
  const elapsedWindows = Math.floor(elapsed / config.period);
  return {
    value: Math.min(state.value + elapsedWindows * config.rate, capacityOf(config)),
    ts: state.ts + elapsedWindows * config.period,
  };
}

/**
 * The smallest whole number above 0 for which `holds`, false up to there and true from there on.
 * Gallops from the guess, then bisects; one step each way when the guess is right. `Infinity` when
 * that number is out of reach, which a valid config and a valid count exclude.
 */
export function firstWhole(guess: number, holds: (whole: number) => boolean): number {
  if (!(guess <= MAX_WHOLE)) return Infinity;
  let high = Math.max(1, guess);
  let low = high - 1;
  for (let step = 1; !holds(high); step *= 2) {
    if (high === MAX_WHOLE) return Infinity;
    low = high;
    high = Math.min(high + step, MAX_WHOLE);
  }
  for (let step = 1; low > 0 && holds(low); step *= 2) {
    high = low;
    low = Math.max(0, low - step);
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Beyond 2^53, doubles no longer hold every whole number. */
const MAX_WHOLE = 2 ** 53;
