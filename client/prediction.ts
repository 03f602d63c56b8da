/** Predicts from a snapshot what a call gets at an instant, in the reader's own time. Pure. */
import {
  calculateRateLimit,
  firstWhole,
  type RateLimitState,
  readingOf,
  refill,
} from "../core/calculate.js";
import {
  type Bucket,
  capacityOf,
  emptyAt,
  leastUsed,
  longestPeriod,
  mostUsed,
  shardConfig,
  toleranceOf,
} from "../core/config.js";
import { isSatisfiableBy, usedShards } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { CheckedRateLimit, RateLimitStatus } from "./types.js";

const OK: RateLimitStatus = { ok: true, retryAt: undefined };

/** The snapshot after the holds that have lapsed at an instant on the server's clock. */
function lapsedAt(snapshot: RateLimitSnapshot, now: number): RateLimitSnapshot {
  const [next, ...lapses] = snapshot.lapses ?? [];
  if (!next || next.at > now) return snapshot;
  return lapsedAt({ ...after(snapshot, next.at, -next.count), lapses }, now);
}

/** The snapshot after tokens were used, or came back, in the server's order of operations. */
function after(snapshot: RateLimitSnapshot, at: number, count: number): RateLimitSnapshot {
  const { config } = snapshot;
  const read = refill(config, readingOf(config, snapshot), at);
  const used = Math.max(read.used + count, leastUsed(config));
  return { ...snapshot, value: emptyAt(config) - used, ts: read.ts, used };
}

/** The instant that `of` gives, or an earlier instant if holds that lapse bring the tokens before. */
function orLapsed(
  snapshot: RateLimitSnapshot,
  count: number,
  of: (snapshot: RateLimitSnapshot, count: number) => number,
): number {
  const at = of(snapshot, count);
  const [next] = snapshot.lapses ?? [];
  if (!next || next.at >= at) return at;
  return Math.max(next.at, orLapsed(lapsedAt(snapshot, next.at), count, of));
}

/**
 * Predicts the answer to a call.
 *
 * @param offset the server's time minus the reader's, ms.
 * @param at epoch ms on the reader's clock.
 */
export function predict(
  snapshot: RateLimitSnapshot,
  offset: number,
  at: number,
  count: number,
): CheckedRateLimit {
  const { config, closedUntil } = snapshot;
  const now = at + offset;
  const { value, ts } = calculateRateLimit(lapsedAt(snapshot, now), config, now, count);
  const { retryAt } = predictStatus(availableAt(snapshot, count) - offset, at);
  const opensAt = closedUntil! > now ? closedUntil! - offset : undefined;
  return { value, ts, config, retryAt, closedUntil: opensAt, now };
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
 * where the call never can, `-Infinity` where it always could. A shadow denies no call.
 *
 * A call sees two shards. Where the fullest two are unknown, two shards are assumed to hold all the
 * tokens, but to refill no faster than two do. A debt is assumed to be spread evenly.
 */
export const availableAt = (snapshot: RateLimitSnapshot, count: number): number =>
  orLapsed(snapshot, count, grantedAt);

function grantedAt(snapshot: RateLimitSnapshot, count: number): number {
  const { value, config, fullest, closedUntil = -Infinity } = snapshot;
  const { shards = 1, shadow } = config;
  if (shadow) return -Infinity;
  const seen = usedShards(config);
  const part = shardConfig(config);
  if (!isSatisfiableBy(seen, part, count)) return Infinity;
  if (fullest) {
    const opens = Math.min(...fullest.map((row) => row.closedUntil ?? -Infinity));
    return Math.max(Math.ceil(opens), whenEnough(fullest, part, count));
  }
  const held = { ...snapshot, value: Math.max(value, (value * seen) / shards) };
  const enoughAt = whenEnough(
    [held],
    { ...part, rate: seen * part.rate, capacity: seen * capacityOf(part) },
    count,
  );
  // A closed bucket also denies a call for no token, and no hold that lapses opens the bucket.
  return Math.max(Math.ceil(closedUntil), enoughAt);
}

/** The first ms, on the server's clock, with more than `remaining` whole tokens; or `Infinity`. */
export const refillsAt = (snapshot: RateLimitSnapshot, remaining: number): number =>
  orLapsed(snapshot, remaining, exceedsAt);

function exceedsAt(snapshot: RateLimitSnapshot, remaining: number): number {
  const { config } = snapshot;
  // The bound is the whole capacity: shards hold tokens together that one call does not see.
  return remaining + 1 > capacityOf(config)
    ? Infinity
    : whenEnough([snapshot], config, remaining + 1);
}

/**
 * When one of these rows, or all of them together, hold `count` tokens, as the server decides. After
 * `ts`, only time changes a row, so the answer does not depend on when this function is called.
 */
function whenEnough(tokens: readonly RateLimitState[], config: Bucket, count: number): number {
  const rows = tokens.map((row) => readingOf(config, row));
  const since = Math.floor(Math.max(...rows.map(({ ts }) => ts)));
  const most = mostUsed(config);
  const missing = (ms: number) => {
    const used = rows.map((row) => refill(config, row, since + ms).used);
    const sum = used.reduce((total, each) => total + each);
    return Math.min(Math.min(...used) + count - most, sum + count - used.length * most);
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
  return { ...after(lapsedAt(snapshot, at), at, count), fullest: undefined };
}

/** Whole tokens that remain at an instant on the server's clock, 0 while the limit is in debt. */
export function remainingAt(snapshot: RateLimitSnapshot, now: number): number {
  const { config } = snapshot;
  const { value } = calculateRateLimit(lapsedAt(snapshot, now), config, now);
  return Math.max(0, Math.floor(value + toleranceOf(config)));
}
