/**
 * From tokens to an answer: granted, reserved or denied. Pure, and the same for the server's
 * decision and the browser's prediction of it.
 */
import {
  calculateRateLimit,
  initialState,
  type RateLimitState,
  stateAt,
  waitFor,
} from "./calculate.js";
import { type RateLimitConfig, reservableOf } from "./config.js";

/**
 * - `ok: true` without `retryAfter`: granted, go ahead.
 * - `ok: true` with `retryAfter`: reserved; do the work after that many ms, without asking again.
 * - `ok: false`: denied, nothing was consumed; the same call passes after `retryAfter` whole ms.
 *
 * `value` is the tokens left: after a grant, or as they are after a denial. It can be a fraction,
 * and negative while reservations are outstanding.
 */
export type RateLimitResult =
  | { ok: true; retryAfter?: number; value: number }
  | { ok: false; retryAfter: number; value: number };

/** A result, and the state to write when it is `ok`. */
export interface RateLimitDecision {
  result: RateLimitResult;
  next: RateLimitState | undefined;
}

/**
 * Decides a call on one row.
 *
 * @param count tokens wanted, valid for the config (see `validateSatisfiable`).
 * @param reserve whether the tokens may be owed, up to `maxReserved`.
 */
export function decideRateLimit(
  existing: RateLimitState | null,
  config: RateLimitConfig,
  now: number,
  count: number,
  reserve: boolean = false,
): RateLimitDecision {
  const { value, ts, retryAfter } = calculateRateLimit(existing, config, now, count);
  const next = { value, ts };
  if (retryAfter === undefined) return { result: { ok: true, value }, next };
  const floor = reserve ? -reservableOf(config) : 0;
  if (reserve && value >= floor) {
    // The work may be done once the row that is left has paid its debt, to the ms.
    const paidOff = waitFor(next, config, now, 0, 0);
    return { result: { ok: true, retryAfter: paidOff, value }, next };
  }
  const state = existing ?? initialState(config, now);
  const held = stateAt(state, config, now).value;
  // What a denied reservation waits for is not tokens but room to owe them.
  const wait = reserve ? waitFor(state, config, now, count, floor) : retryAfter;
  return { result: { ok: false, retryAfter: wait, value: held }, next: undefined };
}
