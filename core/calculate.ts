/**
 * The algebra: two numbers, a config and an instant give the tokens that are left, and the wait until
 * there are enough. The server, its stores and the browser all use this code, so the browser predicts
 * what the server decides. The formulas are those of Ian Macartney, "Implementing Rate
 * Limiting with only two numbers" (stack.convex.dev/rate-limiting).
 */
import {
  type Bucket,
  emptyAt,
  leastUsed,
  MAX_RETRY_AFTER,
  mostUsed,
  toleranceOf,
} from "./config.js";
import { validateCount } from "./count.js";
import { isCredits } from "./rows/credits.js";
import { mostWindowsBetween, windowAfter, windowAt, windowsSince } from "./windows.js";

/** The tokens that a limit has left for a key at an instant, by its config. */
export interface RateLimitState {
  /** Tokens; negative while tokens are owed. */
  value: number;
  /** The instant at which `value` is true, epoch ms. */
  ts: number;
  /**
   * Tokens used of the capacity, where their number is known to the last bit: the capacity less
   * `value`. Where `value` does not agree with `used`, `value` counts.
   */
  used?: number | undefined;
}

/** How much is used at an instant, as a config reads it in a row. */
export interface Reading {
  /** The tokens that are used of the config's capacity. The part above the capacity is owed. */
  used: number;
  /** The instant of `used`, epoch ms. */
  ts: number;
}

/** The tokens that a bucket has left after a calculation, and the wait until there are enough. */
export interface CalculatedRateLimit extends Omit<RateLimitState, "used"> {
  /** Whole ms until `value` would not be negative; `undefined` when `value` is not negative. */
  retryAfter: number | undefined;
  /**
   * Fixed windows: the start of one window, epoch ms, and not always of the current window.
   * `windowStart` is the row's `ts`; without a row, the config's `start`; without both, the start of
   * the current window. With a `period` in ms, the other windows start whole periods away from it.
   * The windows of a calendar do not. Count months from the config's `start`, because a short month
   * moves the day: a window of the 31st starts on 30 April.
   */
  windowStart: number | undefined;
}

/**
 * The tokens that a bucket would hold after `count` tokens were taken from it at `now`.
 *
 * - `value`: the tokens left, negative when there were not enough. The caller decides whether a
 *   negative `value` is allowed, as for a reservation.
 * - `ts`: the instant of `value`: `now` for a token bucket, the start of the current window for a
 *   fixed window. `ts` is never less than `existing.ts`, whatever the clock does.
 * - `retryAfter`: the smallest whole number of ms after which the same call, on the same state,
 *   gives no negative value. For a `count` above capacity, the ms until the debt is repaid. At most
 *   8e15, which is 253,000 years.
 *
 * @param existing the tokens at an earlier instant. `null` where nothing was used: the bucket is full.
 * @param config a valid config, see `validateConfig`.
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
  const reading = existing ? readingOf(config, existing) : unused(config, now);
  const { used, ts } = refill(config, reading, now);
  const value = roundUp(emptyAt(config) - (used + count), config);
  const retryAfter =
    value < 0 ? waitAfter(reading, config, now, count, -toleranceOf(config)) : undefined;
  const windowStart =
    config.kind === "fixed window" ? (existing?.ts ?? config.start ?? ts) : undefined;
  return { value, ts, retryAfter, windowStart };
}

/**
 * Whole ms from `now` until taking `count` tokens leaves at least `floor`, see `floorOf`. Call it
 * only where taking them at `now` would leave less. At most {@link MAX_RETRY_AFTER}.
 *
 * A quotient of doubles is only the first guess: the quotient can be a little too small or too large,
 * and off by many ms where a token takes years. Refilling is monotone in time even after rounding, so
 * a search around the guess finds the first ms at which {@link refill} gives enough.
 */
export function waitAfter(
  reading: Reading,
  config: Bucket,
  now: number,
  count: number,
  floor: number,
): number {
  const most = mostUsed(config, floor);
  const { used, ts } = refill(config, reading, now);
  const after = used + count;
  // A bucket never holds a `count` above its capacity. A call for so many tokens waits until the debt
  // that the call makes is repaid.
  const isEnough =
    leastUsed(config) + count <= most
      ? (wait: number) => refill(config, reading, now + wait).used + count <= most
      : (wait: number) => refill(config, { used: after, ts }, now + wait).used <= most;
  const missing = after - most;
  const guess =
    config.kind !== "fixed window"
      ? ts + (missing / config.rate) * config.period
      : windowAfter(config, ts, Math.ceil(missing / config.rate));
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

/**
 * The tokens to show: 0 where they are below 0 by a rounding error only, see `toleranceOf`. Compare as a
 * take does, or a call that got its tokens could be told to wait for them.
 */
export function roundUp(value: number, config: Bucket): number {
  const isRounding = value < 0 && emptyAt(config) - value <= mostUsed(config);
  return isRounding ? 0 : value;
}

/** The reading of a config where nothing was used, in a window aligned with `start`. */
export function unused(config: Bucket, now: number, least: number = leastUsed(config)): Reading {
  const used = isCredits(config) ? 0 : least;
  return { used, ts: config.kind !== "fixed window" ? now : windowAt(config, now) };
}

/**
 * The reading of a config, by the tokens that are left. `used` is read where `used` and `value` agree,
 * because subtracting `value` from the capacity may lose the last bit. `used` is ignored where a
 * caller has changed `value`.
 */
export function readingOf(config: Bucket, { value, ts, used }: RateLimitState): Reading {
  const empty = emptyAt(config);
  const isSame = used !== undefined && empty - used === value;
  // A `value` above the capacity is a full bucket.
  return { used: isSame ? used : Math.max(empty - value, leastUsed(config)), ts };
}

/** {@link RateLimitState} at a later instant. */
export function stateAt(state: RateLimitState, config: Bucket, now: number): RateLimitState {
  const { used, ts } = refill(config, readingOf(config, state), now);
  return { value: emptyAt(config) - used, ts };
}

/**
 * The reading at `now`, from the reading at `ts`. A `now` before `ts` counts as `ts`: no refill, no
 * drain.
 *
 * @param least what is used at least, see {@link leastUsed}.
 */
export function refill(
  config: Bucket,
  { used, ts }: Reading,
  now: number,
  least: number = leastUsed(config),
): Reading {
  // Multiply before dividing: 6,000 ms at 10 per 60,000 ms are then 1 token, not a little less.
  if (config.kind !== "fixed window") {
    const elapsed = Math.max(0, now - ts);
    const rest = used - (elapsed * config.rate) / config.period;
    return { used: Math.max(rest, least), ts: Math.max(now, ts) };
  }
  const windows = windowsSince(config, ts, now);
  return {
    used: Math.max(used - windows * config.rate, least),
    ts: windowAfter(config, ts, windows),
  };
}

/**
 * The most tokens that can have come to a row between its instants `from` and `to`. Of a fixed
 * window, both instants are starts of windows.
 */
export function refillBetween(config: Bucket, from: number, to: number): number {
  if (config.kind === "fixed window") return mostWindowsBetween(config, from, to) * config.rate;
  return (Math.max(0, to - from) * config.rate) / config.period;
}

/**
 * The smallest whole number above 0 for which `holds` is true. `holds` must be false below that
 * number, and true from that number on. Gallops from the guess, then bisects: two calls when the guess
 * is right. `Infinity` when there is no such number up to 2^53. A valid config and count exclude that.
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
