/**
 * The arithmetic for applications, with the windows of time zones. Pages use `calculate.ts`: a page
 * gets lists of windows, and no code of calendars.
 */
import {
  calculateRateLimit as calculate,
  type CalculatedRateLimit,
  type RateLimitState,
} from "./calculate.js";
import type { ShownConfig } from "./config.js";
import type { RateLimitConfig } from "./limit-config.js";
import { resetAt as resets, type ResettableState } from "./reset-at.js";
import { withCalendar } from "./with-calendar.js";

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
 *
 * @example
 * import { calculateRateLimit } from "trpc-rate-limit";
 *
 * const [snapshot] = await limiter.snapshots([{ name: "sendMessage", key: userId }]);
 * const { value, retryAfter } = calculateRateLimit(snapshot!, snapshot!.config, Date.now(), 1);
 * console.log(value < 0 ? `wait ${retryAfter} ms` : `${value} left after the call`);
 */
export function calculateRateLimit(
  existing: RateLimitState | null,
  config: RateLimitConfig | ShownConfig,
  now: number = Date.now(),
  count: number = 0,
): CalculatedRateLimit {
  return calculate(existing, withCalendar(config), now, count);
}

/**
 * When the bucket is full again, or the next window begins, epoch ms, for a text such as "resets in 3
 * days". Takes a snapshot, the data of a denial, what `getValue` returns, or a result together with its
 * config. The instant is on the clock that `ts` and `now` are of, which is the server's.
 *
 * - **Token bucket**: the first ms at which it is full, if no call takes tokens. An instant that has passed,
 *   or that is now, says that it is full. With `shards`, about that instant.
 * - **Fixed window**: when the next window begins, whatever is left of this one. A debt may take longer.
 * - **Slots**: when the next one is free, if its holder does not renew it.
 *
 * @returns `undefined` for credits, which no time brings back, and for slots that are all free.
 *
 * @example
 * import { resetAt } from "trpc-rate-limit";
 *
 * const result = await limiter.limit("sendMessage", { key: userId });
 * const config = limiter.configOf("sendMessage", { key: userId });
 * const at = resetAt({ ...result, config, now: limiter.clock() });
 * if (at !== undefined) console.log(`resets at ${new Date(at).toISOString()}`);
 */
export function resetAt(state: ResettableState<RateLimitConfig | ShownConfig>): number | undefined {
  return resets({ ...state, config: withCalendar(state.config) });
}
