/**
 * A limit spread over several rows, each with an equal part of rate, capacity and `maxReserved`.
 * A call reads two random shards and takes from the fuller one: Mitzenmacher, "The Power of Two
 * Choices in Randomized Load Balancing" (2001). Where neither has enough, the two are combined.
 */
import { type RateLimitState, shortestWait, type Reading } from "./calculate.js";
import { heldAt, tokensOf, usedAt, waitFor } from "./rows/reading.js";
import {
  type Bucket,
  emptyAt,
  floorOf,
  longestPeriod,
  mostUsed,
  reservableOf,
  shardConfig,
} from "./config.js";
import { decideRateLimit, type RateLimitResult } from "./decide.js";
import { isClosed, isOfLarger, rowOf } from "./rows/bucket.js";
import { withMoreUsed } from "./rows/larger.js";
import type { Row } from "./rows/row.js";

export interface ShardPairDecision {
  result: RateLimitResult;
  /** The rows to write, `undefined` for a shard that stays as it is. */
  next: [Row | undefined, Row | undefined];
  /** The tokens that each shard gave. */
  taken: [number, number];
}

/**
 * Decides a call on two shards. The call takes from the fuller shard if that one has enough. Otherwise
 * the call takes from both shards, and leaves the same number in both. The call makes a debt only when
 * the two shards together have too few.
 *
 * `value` is what is left of the shards that were used: a lower bound of what the limit has left.
 *
 * @param config one shard's part, see {@link shardConfig}.
 */
export function decideShardPair(
  pair: readonly [Row | null, Row | null],
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean = false,
): ShardPairDecision {
  const attempt = (at: number, reserving: boolean) =>
    takeFromFuller(pair, config, at, count, reserving) ??
    takeFromBoth(pair, config, at, count, reserving);
  const taken = attempt(now, false) ?? (reserve ? attempt(now, true) : undefined);
  if (taken !== undefined) return taken;
  const value = heldAt(pair[0], config, now).value + heldAt(pair[1], config, now).value;
  const missing = count - value - (reserve ? 2 * reservableOf(config) : 0);
  const guess = Math.ceil((missing * longestPeriod(config)) / (2 * config.rate));
  const wait = shortestWait(guess, (ms) => attempt(now + ms, reserve) !== undefined);
  return {
    result: { ok: false, retryAfter: wait, value },
    next: [undefined, undefined],
    taken: [0, 0],
  };
}

/**
 * The sum of all shards, as a state of the whole config, at `now` or at the latest `ts` of any
 * shard, whichever is later.
 */
export function sumShards(
  states: readonly (Row | null)[],
  config: Bucket,
  now: number,
): RateLimitState {
  const part = shardConfig(config);
  // The `ts` of a closed row says when it opens. Until then the row has nothing.
  const open = states.filter((state) => !isClosed(state, now));
  const latest = Math.max(now, ...open.map((state) => usedAt(state, part, now).ts));
  const held = states.map((state) => usedAt(state, part, latest));
  const used = held.reduce((sum, each) => sum + each.used, 0);
  const instants = open.length === 0 ? held : open.map((state) => usedAt(state, part, latest));
  const ts = Math.max(...instants.map((each) => each.ts));
  return tokensOf(rowOf(config, used, ts), config);
}

/**
 * The two shards that hold the most now, the fuller one first; see `RateLimitSnapshot.fullest`. All
 * shards refill at the same rate, so these two stay the fullest.
 */
export function fullestShards(
  states: readonly (Row | null)[],
  config: Bucket,
  now: number,
): [RateLimitState, RateLimitState] {
  const part = shardConfig(config);
  const tokens = states.map((state) => heldAt(state, part, now).value);
  const [first, second] = [...tokens.keys()].sort((a, b) => tokens[b]! - tokens[a]!);
  const shown = (index: number) => tokensOf(states[index] ?? usedAt(null, part, now), part);
  return [shown(first!), shown(second!)];
}

function takeFromFuller(
  pair: readonly [Row | null, Row | null],
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean,
): ShardPairDecision | undefined {
  const [a, b] = pair.map((state) =>
    isClosed(state, now) ? Infinity : usedAt(state, config, now).used,
  ) as [number, number];
  const fuller = a <= b ? 0 : 1;
  const { result, next } = decideRateLimit(pair[fuller], config, now, count, reserve);
  if (!result.ok) return undefined;
  return fuller === 0
    ? { result, next: [next, undefined], taken: [count, 0] }
    : { result, next: [undefined, next], taken: [0, count] };
}

function takeFromBoth(
  pair: readonly [Row | null, Row | null],
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean,
): ShardPairDecision | undefined {
  if (pair.some((state) => isClosed(state, now))) return undefined;
  const held = pair.map((state) => usedAt(state, config, now)) as [Reading, Reading];
  const used = held[0].used + held[1].used + count;
  if (used > 2 * mostUsed(config, floorOf(config, reserve))) return undefined;
  const taken = held.map((each) => used / 2 - each.used) as [number, number];
  const next = held.map((each, i) => leftWith(pair[i]!, config, now, each, taken[i]!)) as [
    Row,
    Row,
  ];
  const ts = Math.max(held[0].ts, held[1].ts);
  const floor = floorOf(config, false);
  const value = 2 * emptyAt(config) - used;
  if (used <= 2 * mostUsed(config, floor)) {
    return { result: { ok: true, value: Math.max(0, value), ts }, next, taken };
  }
  const retryAfter = Math.max(...next.map((row) => waitFor(row, config, now, 0, floor)));
  return { result: { ok: true, retryAfter, value, ts }, next, taken };
}

/** A shard after it gave some tokens; below 0, after the other shard took over some of its use. */
function leftWith(
  row: Row | null,
  config: Bucket,
  now: number,
  reading: Reading,
  taken: number,
): Row {
  const next = rowOf(config, reading.used + taken, reading.ts);
  return row === null || next.used < 0 || !isOfLarger(config, row)
    ? next
    : withMoreUsed(config, row, now, reading, taken);
}
