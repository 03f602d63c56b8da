/** What a snapshot says about an instant, in the reader's own time. Pure. */
import { calculateRateLimit, type RateLimitState } from "../core/calculate.js";
import { capacityOf, type RateLimitConfig } from "../core/config.js";
import { mostHeld } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";

/**
 * What a call would get. `value` is the tokens that would be left, negative when there are not
 * enough; `now` is what time the server has at that instant, epoch ms.
 */
export interface CheckedRateLimit {
  value: number;
  config: RateLimitConfig;
  retryAt: number | undefined;
  now: number;
}

/**
 * Whether a call would pass. `retryAt` is epoch ms on this machine's clock: the very ms at which it
 * would, with nobody else consuming; `Infinity` for a count that never could.
 */
export type RateLimitStatus =
  | { readonly ok: true; readonly retryAt: undefined }
  | { readonly ok: false; readonly retryAt: number };

const OK: RateLimitStatus = { ok: true, retryAt: undefined };

/**
 * What a call would get.
 *
 * @param offset server time minus the reader's, ms.
 * @param at epoch ms, the reader's.
 */
export function predict(
  snapshot: RateLimitSnapshot,
  offset: number,
  at: number,
  count: number,
): CheckedRateLimit {
  const { config } = snapshot;
  const now = at + offset;
  const { value } = calculateRateLimit(snapshot, config, now, count);
  const { retryAt } = predictStatus(snapshot, offset, at, count);
  return { value, config, retryAt, now };
}

/** @param before what was said last: it stays the same object until that changes. */
export function predictStatus(
  snapshot: RateLimitSnapshot,
  offset: number,
  at: number,
  count: number,
  before?: RateLimitStatus,
): RateLimitStatus {
  const retryAt = opensAt(snapshot, count) - offset;
  if (at >= retryAt) return OK;
  return before?.retryAt === retryAt ? before : { ok: false, retryAt };
}

/**
 * The first ms, the server's, at which a call for `count` tokens can pass; `Infinity` where it
 * never can, `-Infinity` where it always could. A call sees two shards: at best they hold all that
 * there is, but they refill no faster than two do. Debts are taken to be spread evenly.
 */
export function opensAt({ value, ts, config }: RateLimitSnapshot, count: number): number {
  const { shards = 1, rate } = config;
  const seen = Math.min(shards, 2);
  const capacity = mostHeld(config);
  if (count > capacity) return Infinity;
  const pair = { ...config, rate: seen * (rate / shards), capacity };
  return holdsAt({ value: Math.max(value, (value * seen) / shards), ts }, pair, count);
}

/** The first ms, the server's, at which more than `left` whole tokens are left; or `Infinity`. */
export function refillsAt(snapshot: RateLimitSnapshot, left: number): number {
  const { config } = snapshot;
  // Not what could be granted: shards hold together what no call sees of them.
  return left + 1 > capacityOf(config) ? Infinity : holdsAt(snapshot, config, left + 1);
}

/** From the state's own instant on, nothing but time changes it: so the answer holds at any other. */
function holdsAt(state: RateLimitState, config: RateLimitConfig, count: number): number {
  const since = Math.floor(state.ts);
  const { retryAfter = -Infinity } = calculateRateLimit(state, config, since, count);
  return since + retryAfter;
}

/** The snapshot after a call that took `count` tokens at `at`, an instant of the server's. */
export function take(snapshot: RateLimitSnapshot, at: number, count: number): RateLimitSnapshot {
  const { value, ts } = calculateRateLimit(snapshot, snapshot.config, at, count);
  return { ...snapshot, value, ts };
}

/** Whole tokens left at an instant of the server's, 0 while some are owed. */
export function leftAt(snapshot: RateLimitSnapshot, now: number): number {
  return Math.max(0, Math.floor(calculateRateLimit(snapshot, snapshot.config, now).value));
}
