/** What a snapshot says about an instant, in the reader's own time. Pure. */
import { calculateRateLimit, firstWhole, type RateLimitState } from "../core/calculate.js";
import { capacityOf, type RateLimitConfig, shardConfig } from "../core/config.js";
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
  const { retryAt } = predictStatus(opensAt(snapshot, count) - offset, at);
  return { value, config, retryAt, now };
}

/**
 * @param retryAt when the call can pass, on the clock of `at`.
 * @param before what was said last: it stays the same object until that changes.
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
 * The first ms, the server's, at which a call for `count` tokens can pass; `Infinity` where it
 * never can, `-Infinity` where it always could. A call sees two shards. Where it is not known which
 * have the most, two hold at best all that there is, but refill no faster than two do; and debts
 * are taken to be spread evenly.
 */
export function opensAt({ value, ts, config, fullest }: RateLimitSnapshot, count: number): number {
  const { shards = 1 } = config;
  const seen = Math.min(shards, 2);
  const capacity = mostHeld(config);
  if (count > capacity) return Infinity;
  const part = shardConfig(config);
  if (fullest) return holdAt(fullest, part, count);
  const held = Math.max(value, (value * seen) / shards);
  return holdAt([{ value: held, ts }], { ...part, rate: seen * part.rate, capacity }, count);
}

/** The first ms, the server's, at which more than `left` whole tokens are left; or `Infinity`. */
export function refillsAt(snapshot: RateLimitSnapshot, left: number): number {
  const { config } = snapshot;
  // Not what could be granted: shards hold together what no call sees of them.
  return left + 1 > capacityOf(config) ? Infinity : holdAt([snapshot], config, left + 1);
}

/**
 * When one of these rows holds `count` tokens, or all of them together do, as the server decides.
 * From their own instant on, nothing but time changes them: so the answer holds at any other.
 */
function holdAt(rows: readonly RateLimitState[], config: RateLimitConfig, count: number): number {
  const since = Math.floor(Math.max(...rows.map(({ ts }) => ts)));
  const missing = (ms: number) => {
    const held = rows.map((row) => calculateRateLimit(row, config, since + ms).value);
    const sum = held.reduce((total, value) => total + value);
    return count - Math.max(...held, sum);
  };
  const now = missing(0);
  if (now <= 0) return -Infinity;
  const guess = (now * config.period) / (rows.length * config.rate);
  return since + firstWhole(Math.ceil(guess), (ms) => missing(ms) <= 0);
}

/**
 * The snapshot after a call that took `count` tokens at `at`, an instant of the server's. Nobody
 * but the server knows from which shards.
 */
export function take(snapshot: RateLimitSnapshot, at: number, count: number): RateLimitSnapshot {
  const { value, ts } = calculateRateLimit(snapshot, snapshot.config, at, count);
  return { ...snapshot, value, ts, fullest: undefined };
}

/** Whole tokens left at an instant of the server's, 0 while some are owed. */
export function leftAt(snapshot: RateLimitSnapshot, now: number): number {
  return Math.max(0, Math.floor(calculateRateLimit(snapshot, snapshot.config, now).value));
}
