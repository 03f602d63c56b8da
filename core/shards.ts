/**
 * A limit spread over several rows, each with an equal part of rate, capacity and `maxReserved`.
 * A call reads two random shards and takes from the fuller one: Mitzenmacher, "The Power of Two
 * Choices in Randomized Load Balancing" (2001). Where neither has enough, the two are combined.
 */
import { heldAt, initialState, type RateLimitState, shortestWait, waitFor } from "./calculate.js";
import { floorOf, type Bucket, reservableOf, shardConfig, longestPeriod } from "./config.js";
import { decideRateLimit, type RateLimitResult } from "./decide.js";

export interface ShardPairDecision {
  result: RateLimitResult;
  /** The states to write, `undefined` for a shard that stays as it is. */
  next: [RateLimitState | undefined, RateLimitState | undefined];
  /** The tokens that each shard gave. */
  taken: [number, number];
}

/**
 * Decides a call on two shards. It takes from the fuller one if that has enough. Otherwise it takes
 * from both, and leaves both with the same value. It makes a debt only when the two together have
 * not enough.
 *
 * `value` is what the shards that were used hold together: a lower bound of what the limit holds.
 *
 * @param config one shard's part, see {@link shardConfig}.
 */
export function decideShardPair(
  pair: readonly [RateLimitState | null, RateLimitState | null],
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
  const held = pair.map((state) => heldAt(state, config, now)) as [RateLimitState, RateLimitState];
  const value = held[0].value + held[1].value;
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
  states: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
): RateLimitState {
  const part = shardConfig(config);
  const latest = Math.max(now, ...states.map((state) => state?.ts ?? now));
  const held = states.map((state) => heldAt(state, part, latest));
  return {
    value: held.reduce((sum, state) => sum + state.value, 0),
    ts: Math.max(...held.map((state) => state.ts)),
  };
}

/**
 * The two shards that hold the most now, the fuller one first; see `RateLimitSnapshot.fullest`. All
 * shards refill at the same rate, so these two stay the fullest.
 */
export function fullestShards(
  states: readonly (RateLimitState | null)[],
  config: Bucket,
  now: number,
): [RateLimitState, RateLimitState] {
  const part = shardConfig(config);
  const tokens = states.map((state) => heldAt(state, part, now).value);
  const [first, second] = [...tokens.keys()].sort((a, b) => tokens[b]! - tokens[a]!);
  const rowOf = (index: number) => {
    const { value, ts } = states[index] ?? initialState(part, now);
    return { value, ts };
  };
  return [rowOf(first!), rowOf(second!)];
}

function takeFromFuller(
  pair: readonly [RateLimitState | null, RateLimitState | null],
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean,
): ShardPairDecision | undefined {
  const [a, b] = pair.map((state) => heldAt(state, config, now).value) as [number, number];
  const fuller = a >= b ? 0 : 1;
  const { result, next } = decideRateLimit(pair[fuller], config, now, count, reserve);
  if (!result.ok) return undefined;
  return fuller === 0
    ? { result, next: [next, undefined], taken: [count, 0] }
    : { result, next: [undefined, next], taken: [0, count] };
}

function takeFromBoth(
  pair: readonly [RateLimitState | null, RateLimitState | null],
  config: Bucket,
  now: number,
  count: number,
  reserve: boolean,
): ShardPairDecision | undefined {
  const held = pair.map((state) => heldAt(state, config, now)) as [RateLimitState, RateLimitState];
  const balance = held[0].value + held[1].value - count;
  if (balance < 2 * floorOf(config, reserve)) return undefined;
  const next = held.map(({ ts }) => ({ value: balance / 2, ts })) as [
    RateLimitState,
    RateLimitState,
  ];
  const taken = held.map(({ value }) => value - balance / 2) as [number, number];
  const ts = Math.max(held[0].ts, held[1].ts);
  const floor = floorOf(config, false);
  if (balance >= 2 * floor) {
    return { result: { ok: true, value: Math.max(0, balance), ts }, next, taken };
  }
  const retryAfter = Math.max(...next.map((state) => waitFor(state, config, now, 0, floor)));
  return { result: { ok: true, retryAfter, value: balance, ts }, next, taken };
}
