/** What a snapshot says about an instant, in the reader's own time. Pure. */
import { calculateRateLimit } from "../core/calculate.js";
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
  const wait = waitOf(snapshot, now, count);
  return { value, config, retryAt: wait === undefined ? undefined : at + wait, now };
}

/**
 * Whole ms from `now`, the server's, until a call for `count` tokens can pass at the earliest;
 * `undefined` where it can now, `Infinity` where it never can. A call sees two shards: at best they
 * hold all that there is, but they refill no faster than two do. Debts are taken to be spread evenly.
 */
export function waitOf(
  { value, ts, config }: RateLimitSnapshot,
  now: number,
  count: number,
): number | undefined {
  const { shards = 1, rate } = config;
  const seen = Math.min(shards, 2);
  const capacity = mostHeld(config);
  if (count > capacity) return Infinity;
  const pair = { ...config, rate: seen * (rate / shards), capacity };
  const held = Math.max(value, (value * seen) / shards);
  return calculateRateLimit({ value: held, ts }, pair, now, count).retryAfter;
}

/** The snapshot after a call that took `count` tokens at `at`, an instant of the server's. */
export function take(snapshot: RateLimitSnapshot, at: number, count: number): RateLimitSnapshot {
  const { value, ts } = calculateRateLimit(snapshot, snapshot.config, at, count);
  return { ...snapshot, value, ts };
}

/** Whole tokens left, 0 while some are owed. */
export function predictLeft(snapshot: RateLimitSnapshot, offset: number, at: number): number {
  const { value } = calculateRateLimit(snapshot, snapshot.config, at + offset);
  return Math.max(0, Math.floor(value));
}

/** When more than `left` are left, from `at` on; `Infinity` where that is all a limit holds. */
export function predictRefill(
  snapshot: RateLimitSnapshot,
  offset: number,
  at: number,
  left: number,
): number {
  const { config } = snapshot;
  // Not what could be granted: shards hold together what no call sees of them.
  if (left + 1 > capacityOf(config)) return Infinity;
  return at + (calculateRateLimit(snapshot, config, at + offset, left + 1).retryAfter ?? 0);
}
