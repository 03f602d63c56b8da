/**
 * The algebra: two numbers, a config and an instant give the tokens held and the wait until there
 * are enough. The server, its stores and the browser all use this code, so what the browser
 * predicts is what the server decides. The formulas are those of Ian Macartney, "Implementing Rate
 * Limiting with only two numbers" (stack.convex.dev/rate-limiting).
 */
import { capacityOf, MAX_RETRY_AFTER, type Bucket, toleranceOf } from "./config.js";
import { validateCount } from "./count.js";
import { isCredits } from "./rows/credits.js";
import { mostWindowsBetween, windowAfter, windowAt, windowsSince } from "./windows.js";

/** A row: the tokens held at `ts`, epoch ms. Negative while tokens are owed. */
export interface RateLimitState {
  /** Tokens; negative while tokens are owed. */
  value: number;
  /** The instant at which `value` is true, epoch ms. */
  ts: number;
}

/** The tokens that a bucket holds after a calculation, and the wait until there are enough. */
export interface CalculatedRateLimit extends RateLimitState {
  /** Whole ms until `value` would not be negative; `undefined` when it is not. */
  retryAfter: number | undefined;
  /**
   * Fixed windows: the start of one window, epoch ms, and not always of the current one. It is the
   * row's `ts`; without a row, the config's `start`; without both, the start of the current window.
   * With a `period` in ms, the other windows start whole periods away from it. Those of a calendar do
   * not. Months are counted from the config's `start`, because a short month moves the day.
   */
  windowStart: number | undefined;
}

/**
 * The tokens that a bucket would hold after `count` tokens were taken from it at `now`.
 *
 * - `value`: the tokens left, negative when there were not enough. The caller decides whether that
 *   is allowed, as a reservation.
 * - `ts`: the instant of `value`: `now` for a token bucket, the start of the current window for a
 *   fixed window. It is never less than `existing.ts`, whatever the clock does.
 * - `retryAfter`: the smallest whole number of ms after which the same call, on the same state,
 *   gives no negative value. For a `count` above capacity, the ms until the debt is repaid. At most
 *   8e15, which is 253,000 years.
 *
 * @param existing the row, or `null` where there is none: the bucket is full.
 * @param config a valid one, see `validateConfig`.
 * @param now epoch ms.
 * @param count tokens to take, finite and at least 0.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function calculateRateLimit(
  existing: RateLimitState | null,
  config: Bucket,
  now: number = Date.now(),
  count: number = 0,
): CalculatedRateLimit {
  validateCount(count);
  const state = existing ?? initialState(config, now);
  const held = stateAt(state, config, now);
  const value = roundUp(held.value - count, config);
  const retryAfter =
    value < 0 ? waitFor(state, config, now, count, -toleranceOf(config)) : undefined;
  const windowStart =
    config.kind === "fixed window" ? (existing?.ts ?? config.start ?? held.ts) : undefined;
  return { value, ts: held.ts, retryAfter, windowStart };
}

/**
 * Whole ms from `now` until taking `count` tokens leaves at least `floor`, see `floorOf`. Call it
 * only where that is not so at `now`. At most {@link MAX_RETRY_AFTER}.
 *
 * A quotient of doubles is only the first guess: it can be a little too small or too large, and off
 * by many ms where a token takes years. Refilling is monotone in time even after rounding, so a
 * search around the guess finds the exact ms at which {@link stateAt} agrees.
 */
export function waitFor(
  state: RateLimitState,
  config: Bucket,
  now: number,
  count: number,
  floor: number,
): number {
  const held = stateAt(state, config, now);
  const after = held.value - count;
  // A bucket never holds a `count` above its capacity. Such a call waits until its debt is repaid.
  const isEnough =
    capacityOf(config) - count >= floor
      ? (wait: number) => stateAt(state, config, now + wait).value - count >= floor
      : (wait: number) => stateAt({ value: after, ts: held.ts }, config, now + wait).value >= floor;
  const missing = floor - after;
  const guess =
    config.kind !== "fixed window"
      ? held.ts + (missing / config.rate) * config.period
      : windowAfter(config, held.ts, Math.ceil(missing / config.rate));
  return shortestWait(Math.ceil(guess - now), isEnough);
}

/**
 * The smallest whole number of ms above 0 after which a call passes, see {@link firstWhole}. At most
 * {@link MAX_RETRY_AFTER}: a debt that was made under another config can take longer to repay, and may never
 * be repaid. `Infinity` would be `null` in JSON.
 */
export function shortestWait(guess: number, passes: (wait: number) => boolean): number {
  return Math.min(MAX_RETRY_AFTER, firstWhole(guess, passes));
}

/** The tokens to show: 0 where they are below 0 by a rounding error only, see `toleranceOf`. */
export function roundUp(value: number, config: Bucket): number {
  return value < 0 && value >= -toleranceOf(config) ? 0 : value;
}

/**
 * The state of a bucket without a row: full, in a window aligned with `start`. Credits, whose rate is
 * 0, are not full but empty.
 */
export function initialState(config: Bucket, now: number): RateLimitState {
  const value = config.rate && capacityOf(config);
  return { value, ts: config.kind !== "fixed window" ? now : windowAt(config, now) };
}

/**
 * The tokens held at `now`. A `now` before `state.ts` counts as `state.ts`: no refill, no drain.
 */
export function stateAt(state: RateLimitState, config: Bucket, now: number): RateLimitState {
  // Multiply before dividing: 6,000 ms at 10 per 60,000 ms are then 1 token, not a little less.
  if (config.kind !== "fixed window") {
    const elapsed = Math.max(0, now - state.ts);
    const refilled = state.value + (elapsed * config.rate) / config.period;
    return { value: Math.min(refilled, capacityOf(config)), ts: Math.max(now, state.ts) };
  }
  const windows = windowsSince(config, state.ts, now);
  return {
    value: Math.min(state.value + windows * config.rate, capacityOf(config)),
    ts: windowAfter(config, state.ts, windows),
  };
}

/** The tokens held at `now` by a row. `null` is a row that does not exist, see {@link initialState}. */
export function heldAt(
  row: RateLimitState | null | undefined,
  config: Bucket,
  now: number,
): RateLimitState {
  return stateAt(row ?? initialState(config, now), config, now);
}

/**
 * The most tokens that can have come to a row between its instants `from` and `to`. Of a fixed
 * window, these are starts of windows.
 */
export function refillBetween(config: Bucket, from: number, to: number): number {
  if (config.kind === "fixed window") return mostWindowsBetween(config, from, to) * config.rate;
  return (Math.max(0, to - from) * config.rate) / config.period;
}

/**
 * Whether a row is full, so that it says no more than a missing row does. Of credits, that is so
 * where none are left.
 */
export function isFullAt(state: RateLimitState, config: Bucket, now: number): boolean {
  if (isCredits(config)) return state.value === 0;
  return stateAt(state, config, now).value >= capacityOf(config);
}

/**
 * About the instant at which a row will be full, epoch ms: off by no more than rounding. `Infinity`
 * for credits that are left, see {@link isFullAt}.
 */
export function fullAt(state: RateLimitState, config: Bucket): number {
  if (isCredits(config)) return state.value === 0 ? state.ts : Infinity;
  const periods = Math.max(0, capacityOf(config) - state.value) / config.rate;
  return config.kind !== "fixed window"
    ? state.ts + periods * config.period
    : windowAfter(config, state.ts, Math.ceil(periods));
}

/** The part of the capacity that was used at `state.ts`: from 0, full, to 1, exhausted or in debt. */
export function usageOf(state: RateLimitState, config: Bucket): number {
  const capacity = capacityOf(config);
  if (state.value >= capacity) return 0;
  return capacity > 0 ? Math.min(1, 1 - state.value / capacity) : 1;
}

/**
 * The smallest whole number above 0 for which `holds` is true. It must be false below that number,
 * and true from there on. Gallops from the guess, then bisects: two calls when the guess is right.
 * `Infinity` when there is no such number up to 2^53, which a valid config and count exclude.
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

/** Above 2^53, doubles do not hold every whole number. */
const MAX_WHOLE = 2 ** 53;
