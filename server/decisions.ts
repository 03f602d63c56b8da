/** What a limiter asks of a store, as decisions: `core`'s arithmetic over the rows it concerns. */
import type { RateLimitState } from "../core/calculate.js";
import { firstWhole } from "../core/calculate.js";
import { type RateLimitConfig, shardConfig } from "../core/config.js";
import { decideRateLimit, type RateLimitResult } from "../core/decide.js";
import { refundRateLimit } from "../core/refund.js";
import { decideShardPair, sumShards } from "../core/shards.js";
import { type Decision, rowId, type RowId } from "./store/store.js";

/** One limit for one key, resolved and checked. */
export interface Target {
  name: string;
  key: string | undefined;
  config: RateLimitConfig;
}

/** A target, and what is wanted of it. */
export interface Wanted extends Target {
  count: number;
  reserve: boolean;
  /** The longest that a reservation may have to wait, ms; a longer one is denied. */
  maxWait?: number | undefined;
}

/** Both may be called more than once per decision. */
export interface Environment {
  clock(): number;
  random(): number;
}

export interface Decided {
  result: RateLimitResult;
  now: number;
}

/** Takes what is wanted of one target. */
export function take(
  want: Wanted,
  consume: boolean,
  { clock, random }: Environment,
): Decision<Decided> {
  const { config, count } = want;
  const { shards = 1 } = config;
  const part = shardConfig(config);
  const rows =
    shards === 1 ? [rowOf(want, 0)] : pickTwo(shards, random).map((shard) => rowOf(want, shard));
  return {
    rows,
    readOnly: !consume,
    decide(states) {
      const now = clock();
      const { result, next } = takeOne(want, part, states, now);
      const decided = { result, now };
      return consume && result.ok && count > 0
        ? { result: decided, writes: next }
        : { result: decided };
    },
  };
}

export interface AllDecided {
  /** One per target. When one is denied, what each would get in its turn. */
  results: RateLimitResult[];
  ok: boolean;
  /** Of the whole; 0 when it passed without reservations. */
  retryAfter: number;
  now: number;
}

/** Takes what is wanted of every target, or nothing at all. */
export function takeAll(
  wanted: readonly Wanted[],
  consume: boolean,
  { clock, random }: Environment,
): Decision<AllDecided> {
  const steps = wanted.map((want) => {
    const { shards = 1 } = want.config;
    const picked = shards === 1 ? [0] : pickTwo(shards, random);
    const rows = picked.map((shard) => rowOf(want, shard));
    return { want, part: shardConfig(want.config), rows };
  });
  // Two targets can be the same row, and then the second one sees what the first one left.
  const slots = slotsOf(steps.flatMap((step) => step.rows));

  return {
    rows: slots.rows,
    readOnly: !consume,
    decide(states) {
      const now = clock();
      const attempt = (at: number) => {
        const current = [...states];
        const results = steps.map(({ want, part, rows }) => {
          const indexes = rows.map(slots.indexOf);
          const seen = indexes.map((i) => current[i] ?? null);
          const { result, next } = takeOne(want, part, seen, at);
          if (want.count > 0) {
            for (const [i, state] of next.entries()) if (state) current[indexes[i]!] = state;
          }
          return result;
        });
        return { results, current, ok: results.every(({ ok }) => ok) };
      };
      const { results, current, ok } = attempt(now);
      const longest = Math.max(...results.map(({ retryAfter = 0 }) => retryAfter));
      // On separate rows the longest wait is that of all; where rows meet, it is a first guess.
      const retryAfter = ok ? longest : firstWhole(longest, (ms) => attempt(now + ms).ok);
      const outcome = { result: { results, ok, retryAfter, now } };
      if (!ok || !consume) return outcome;
      const writes = current.map((state, i) => (state === states[i] ? undefined : state));
      return { ...outcome, writes };
    },
  };
}

function takeOne(
  { config, count, reserve, maxWait = Infinity }: Wanted,
  part: RateLimitConfig,
  states: readonly (RateLimitState | null)[],
  now: number,
): { result: RateLimitResult; next: readonly (RateLimitState | undefined)[] } {
  let result: RateLimitResult;
  let next: readonly (RateLimitState | undefined)[];
  if (config.shards === undefined || config.shards === 1) {
    const decided = decideRateLimit(states[0] ?? null, part, now, count, reserve);
    result = decided.result;
    next = [decided.next];
  } else {
    const pair = [states[0] ?? null, states[1] ?? null] as const;
    ({ result, next } = decideShardPair(pair, part, now, count, reserve));
  }
  if (!result.ok || (result.retryAfter ?? 0) <= maxWait) return { result, next };
  // One ms later, the same reservation would have to wait one ms less.
  const wait = Math.ceil(result.retryAfter! - maxWait);
  return { result: { ok: false, retryAfter: wait, value: result.value + count }, next: [] };
}

/** Forgets what was taken: a row that does not exist is full, whatever its limit's config. */
export function resetRow(row: RowId): Decision<void> {
  return {
    rows: [row],
    decide: ([state]) => ({ result: undefined, ...(state && { writes: [null] }) }),
  };
}

/** Gives tokens back to two of a limit's shards, or to its one row. */
export function refund(
  target: Target,
  count: number,
  { clock, random }: Environment,
): Decision<{ value: number }> {
  const { shards = 1 } = target.config;
  const picked = shards === 1 ? [0] : pickTwo(shards, random);
  const part = shardConfig(target.config);
  return {
    rows: picked.map((shard) => rowOf(target, shard)),
    decide(states) {
      const { value, next } = refundRateLimit(states, part, clock(), count);
      return { result: { value }, writes: next };
    },
  };
}

/** Reads all shards of a limit: the row itself where there is one, else their sum. */
export function readState(
  target: Target,
  { clock }: Pick<Environment, "clock">,
): Decision<RateLimitState & { now: number }> {
  const { shards = 1 } = target.config;
  return {
    rows: allRows(target),
    readOnly: true,
    decide(states) {
      const now = clock();
      const [only] = states;
      const { value, ts } = shards === 1 && only ? only : sumShards(states, target.config, now);
      return { result: { value, ts, now } };
    },
  };
}

export function rowOf({ name, key }: Target, shard: number): RowId {
  return rowId(name, key ?? "", shard);
}

export function allRows(target: Target): RowId[] {
  return Array.from({ length: target.config.shards ?? 1 }, (_, shard) => rowOf(target, shard));
}

/** Two different shards, each pair equally likely. */
function pickTwo(shards: number, random: () => number): [number, number] {
  const first = Math.floor(random() * shards);
  const second = (first + 1 + Math.floor(random() * (shards - 1))) % shards;
  return [first, second];
}

/** The distinct rows among these, and where each of them is. */
function slotsOf(all: readonly RowId[]) {
  const rows: RowId[] = [];
  const indexes = new Map<RowId, number>();
  for (const row of all) {
    const same = rows.findIndex(
      ({ name, key, shard }) => name === row.name && key === row.key && shard === row.shard,
    );
    indexes.set(row, same === -1 ? rows.push(row) - 1 : same);
  }
  return { rows, indexOf: (row: RowId) => indexes.get(row)! };
}
