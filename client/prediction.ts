/** Predicts from a snapshot what a call gets at an instant, in the reader's own time. Pure. */
import { calculateRateLimit, firstWhole, type RateLimitState, stateAt } from "../core/calculate.js";
import {
  capacityOf,
  type Bucket,
  shardConfig,
  toleranceOf,
  longestPeriod,
} from "../core/config.js";
import { mostHeld } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { CheckedRateLimit, RateLimitStatus } from "./types.js";

const OK: RateLimitStatus = { ok: true, retryAt: undefined };

/**
 * Predicts the answer to a call.
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
  const { retryAt } = predictStatus(availableAt(snapshot, count) - offset, at);
  return { value, config, retryAt, now };
}

/**
 * @param retryAt when the call can pass, on the clock of `at`.
 * @param before the previous status: it stays the same object until it changes.
 */
export function predictStatus(
  retryAt: number,
  at: number,
  before?: RateLimitStatus,
): RateLimitStatus {
  if (at >= retryAt) return OK;
  return before?.retryAt === retryAt ? before : { ok: false, retryAt };
}

/**
 * The first ms, on the server's clock, at which a call for `count` tokens can pass. `Infinity`
 * where it never can, `-Infinity` where it always could. A shadow denies no call.
 *
 * A call sees two shards. Where the fullest two are unknown, two shards are assumed to hold all the
 * tokens, but to refill no faster than two do. A debt is assumed to be spread evenly.
 */
export function availableAt(
  { value, ts, config, fullest }: RateLimitSnapshot,
  count: number,
): number {
  const { shards = 1, shadow } = config;
  if (shadow) return -Infinity;
  const seen = Math.min(shards, 2);
  const capacity = mostHeld(config);
  const part = shardConfig(config);
  if (count - capacity > seen * toleranceOf(part)) return Infinity;
  if (fullest) return heldAt(fullest, part, count);
  const held = Math.max(value, (value * seen) / shards);
  return heldAt([{ value: held, ts }], { ...part, rate: seen * part.rate, capacity }, count);
}

/** The first ms, on the server's clock, with more than `remaining` whole tokens; or `Infinity`. */
export function refillsAt(snapshot: RateLimitSnapshot, remaining: number): number {
  const { config } = snapshot;
  // The bound is the whole capacity: shards hold tokens together that one call does not see.
  return remaining + 1 > capacityOf(config) ? Infinity : heldAt([snapshot], config, remaining + 1);
}

/**
 * When one of these rows, or all of them together, hold `count` tokens, as the server decides.
 * After its `ts` only time changes a row, so the answer is the same whenever it is asked for.
 */
function heldAt(rows: readonly RateLimitState[], config: Bucket, count: number): number {
  const since = Math.floor(Math.max(...rows.map(({ ts }) => ts)));
  const tolerance = toleranceOf(config);
  const missing = (ms: number) => {
    const held = rows.map((row) => stateAt(row, config, since + ms).value);
    const sum = held.reduce((total, value) => total + value + tolerance);
    return count - Math.max(...held, sum) - tolerance;
  };
  const now = missing(0);
  if (now <= 0) return -Infinity;
  const guess = (now * longestPeriod(config)) / (rows.length * config.rate);
  return since + firstWhole(Math.ceil(guess), (ms) => missing(ms) <= 0);
}

/**
 * The snapshot after a call that took `count` tokens at `at`, an instant on the server's clock.
 * `fullest` is dropped, since only the server knows from which shards the tokens came.
 */
export function take(snapshot: RateLimitSnapshot, at: number, count: number): RateLimitSnapshot {
  const { value, ts } = calculateRateLimit(snapshot, snapshot.config, at, count);
  return { ...snapshot, value, ts, fullest: undefined };
}

/** Whole tokens that remain at an instant on the server's clock, 0 while the limit is in debt. */
export function remainingAt(snapshot: RateLimitSnapshot, now: number): number {
  const { config } = snapshot;
  const { value } = calculateRateLimit(snapshot, config, now);
  return Math.max(0, Math.floor(value + toleranceOf(config)));
}
