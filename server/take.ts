/**
 * A call on one limit as a decision for the store: on its only row, or on two random shards.
 */
import { heldAt, type RateLimitState } from "../core/calculate.js";
import { capacityOf, floorOf, type PeriodicConfig, type RateLimitConfig } from "../core/config.js";
import { decideRateLimit, grantOf, type RateLimitResult } from "../core/decide.js";
import { decideShardPair } from "../core/shards.js";
import { type ResolvedLimit, rowOf } from "./resolve-limit.js";
import type { Decision, Outcome, PlainTake, RowId } from "./store/store.js";
import { remember } from "./taking.js";

/** A call's request to one limit. */
export interface LimitRequest {
  limit: ResolvedLimit;
  count: number;
  reserve: boolean;
  /** The longest that a reservation may have to wait, ms; a longer one is denied. */
  maxWait: number | undefined;
}

/** Both may be called more than once per decision. */
export interface Environment {
  clock(): number;
  random(): number;
}

/**
 * Takes the tokens of one request. A class, because hundreds of calls may wait at a time, and its
 * few fields keep less memory alive than a closure would.
 */
export class Take implements LimitRequest, Decision<RateLimitResult>, PlainTake<RateLimitResult> {
  readonly rows: readonly RowId[];
  /** When the last decision was made, by the limiter's clock, epoch ms. */
  now = 0;
  /** Whether the last decision changed a row. */
  isChange = false;

  constructor(
    readonly limit: ResolvedLimit,
    readonly count: number,
    readonly reserve: boolean,
    readonly maxWait: number | undefined,
    readonly readOnly: boolean,
    private readonly environment: Environment,
  ) {
    this.rows = fullerFirst(limit, pickRows(limit, environment.random), environment);
  }

  /**
   * With shards, it takes from the shard that is believed to be the fuller one. A call that finds
   * too few tokens there is decided on both. Not with a bounded wait, because a statement cannot
   * compute how long a wait will be.
   */
  get plain(): this | undefined {
    const { limit, count, maxWait = Infinity } = this;
    if (!limit.isPlain || !(count > 0) || maxWait !== Infinity) return undefined;
    // A call for more than one shard can hold takes from both.
    const fits = this.rows.length === 1 || capacityOf(limit.part) - count >= this.floor;
    return fits ? this : undefined;
  }

  get config(): PeriodicConfig {
    // The call is plain only where that is so.
    return this.limit.part as PeriodicConfig;
  }

  get floor(): number {
    // The other shard may still have tokens, so this one must not go into debt.
    const { part, floor } = this.limit;
    return this.reserve && this.rows.length === 1 ? floorOf(part, true) : floor;
  }

  get clock(): () => number {
    return this.environment.clock;
  }

  granted(next: RateLimitState, later: number, now: number): RateLimitResult {
    this.now = now;
    this.isChange = true;
    const result = grantOf(next, this.limit.part, now, later);
    if (this.rows.length === 1 || !result.ok) return remember(result, this);
    const { shard } = this.rows[0]!;
    this.limit.seen[shard] = next;
    return remember({ ...result, shards: [{ shard, count: this.count }] }, this);
  }

  decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    this.now = this.environment.clock();
    const { result, next } = takeOne(this, this.rows, states, this.now, this.readOnly);
    if (this.rows.length > 1) {
      for (const [i, { shard }] of this.rows.entries()) {
        this.limit.seen[shard] = next[i] ?? states[i] ?? undefined;
      }
    }
    if (this.readOnly) return { result };
    this.isChange = (this.count > 0 || !result.ok) && next.some((state) => state !== undefined);
    return { result: remember(result, this), writes: this.isChange ? next : undefined };
  }
}

export function takeOne(
  { limit: { config, part }, count, reserve, maxWait = Infinity }: LimitRequest,
  rows: readonly RowId[],
  states: readonly (RateLimitState | null)[],
  now: number,
  isCheck: boolean = false,
): { result: RateLimitResult; next: readonly (RateLimitState | undefined)[] } {
  let result: RateLimitResult;
  let next: readonly (RateLimitState | undefined)[];
  if (config.shards === undefined || config.shards === 1) {
    // `check` closes nothing, so it answers with the wait of a bucket that stays open.
    const given = isCheck ? withoutBlock(part) : part;
    const decided = decideRateLimit(states[0] ?? null, given, now, count, reserve);
    result = decided.result;
    next = [decided.next];
  } else {
    const pair = [states[0] ?? null, states[1] ?? null] as const;
    const decided = decideShardPair(pair, part, now, count, reserve);
    next = decided.next;
    result = decided.result;
    if (result.ok) {
      const used = rows.map(({ shard }, i) => ({ shard, count: decided.taken[i]! }));
      result = { ...result, shards: used.filter((_, i) => next[i] !== undefined) };
    }
  }
  if (!result.ok || (result.retryAfter ?? 0) <= maxWait) return { result, next };
  // One ms later, the same reservation would have to wait one ms less.
  const wait = Math.ceil(result.retryAfter! - maxWait);
  return { result: { ok: false, retryAfter: wait, value: result.value + count }, next: [] };
}

function withoutBlock(config: RateLimitConfig): RateLimitConfig {
  if (config.blockFor === undefined) return config;
  const { blockFor: _, ...open } = config;
  return open;
}

/** The rows that a call reads: the only one, or two random shards. */
export function pickRows(limit: ResolvedLimit, random: () => number): readonly RowId[] {
  const { shards = 1 } = limit.config;
  return shards === 1 ? limit.rows : pickTwo(shards, random).map((shard) => rowOf(limit, shard));
}

/** The order of two shards by what this process has last seen of them. */
function fullerFirst(
  { part, seen }: ResolvedLimit,
  rows: readonly RowId[],
  { clock }: Pick<Environment, "clock">,
): readonly RowId[] {
  if (rows.length === 1) return rows;
  const now = clock();
  const [a, b] = rows.map(({ shard }) => {
    return heldAt(seen[shard], part, now).value;
  });
  return b! > a! ? [rows[1]!, rows[0]!] : rows;
}

/** Two different shards, each pair equally likely. */
function pickTwo(shards: number, random: () => number): [number, number] {
  const first = Math.floor(random() * shards);
  const second = (first + 1 + Math.floor(random() * (shards - 1))) % shards;
  return [first, second];
}
