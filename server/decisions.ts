/** The decisions that a limiter sends to its store: the arithmetic of `core` over named rows. */
import type { RateLimitState } from "../core/calculate.js";
import { firstWhole, initialState, stateAt } from "../core/calculate.js";
import { capacityOf, floorOf, type RateLimitConfig, type PeriodicConfig } from "../core/config.js";
import { chargeFloor, chargeRows } from "../core/charge.js";
import { decideRateLimit, grantOf, type RateLimitResult } from "../core/decide.js";
import {
  giveBack,
  type RefundedRateLimit,
  refundRateLimit,
  type TakenTokens,
} from "../core/refund.js";
import { decideShardPair, fullestShards, sumShards } from "../core/shards.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { allRows, type ResolvedLimit, rowOf } from "./resolve-limit.js";
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

export interface AllDecided {
  /** One per request. When one is denied, what each would get in its turn. */
  results: RateLimitResult[];
  /** By index of the request: whether it changed a row. */
  changed: readonly boolean[];
  ok: boolean;
  /** The wait for all of them; 0 when they passed without reservations. */
  retryAfter: number;
  now: number;
}

/** Takes the tokens of every request, or none at all. Requests to shadows deny nothing. */
export function takeAll(
  requests: readonly LimitRequest[],
  { clock, random }: Environment,
): Decision<AllDecided> {
  const steps = requests.map((request) => ({ request, rows: pickRows(request.limit, random) }));
  // Two requests can be for the same row. The second one then sees what the first one left.
  const slots = slotsOf(steps.flatMap((step) => step.rows));

  return {
    rows: slots.rows,
    decide(states) {
      const now = clock();
      const attempt = (from: readonly (RateLimitState | null)[], at: number) => {
        const current = [...from];
        /** The rows as they were, but for those that a denial closes. */
        const closed = [...from];
        const changed = steps.map(() => false);
        const results = steps.map(({ request, rows }, step) => {
          const indexes = rows.map(slots.indexOf);
          const seen = indexes.map((i) => current[i] ?? null);
          const { result, next } = takeOne(request, rows, seen, at);
          if (result.ok && request.count === 0) return result;
          for (const [i, state] of next.entries()) {
            if (state === undefined) continue;
            changed[step] = true;
            current[indexes[i]!] = state;
            if (!result.ok) closed[indexes[i]!] = state;
          }
          return result;
        });
        const ok = results.every((result, i) => result.ok || isShadow(steps[i]!.request));
        return { results, current, closed, changed, ok };
      };
      const writesOf = (next: readonly (RateLimitState | null)[]) => {
        return next.map((state, i) => (state === states[i] ? undefined : state));
      };
      const { results, current, closed, changed, ok } = attempt(states, now);
      const waits = results.filter((_, i) => !isShadow(steps[i]!.request));
      const longest = Math.max(0, ...waits.map(({ retryAfter = 0 }) => retryAfter));
      if (ok) {
        const result = { results, changed, ok, retryAfter: longest, now };
        return { result, writes: writesOf(current) };
      }
      // On separate rows, all pass after the longest wait. On shared rows, that is a first guess.
      const retryAfter = firstWhole(longest, (ms) => attempt(closed, now + ms).ok);
      const isClosing = results.map((denied, i) => !denied.ok && changed[i]!);
      const result = { results, changed: isClosing, ok, retryAfter, now };
      return { result, writes: isClosing.includes(true) ? writesOf(closed) : undefined };
    },
  };
}

function isShadow({ limit }: LimitRequest): boolean {
  return limit.config.shadow === true;
}

function takeOne(
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

/**
 * Charges tokens to rows of a limit.
 *
 * @param mayOwe whether the rows may go into debt. Where they may not and hold too few tokens, the
 * result is `undefined`, and nothing is written.
 */
export function chargeTo(
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
  mayOwe: boolean,
): Decision<RateLimitResult | undefined> {
  const { part } = limit;
  const floor = chargeFloor(part);
  const isPlain = limit.isPlain && rows.length === 1 && capacityOf(part) - count >= floor;
  return {
    rows,
    plain: isPlain
      ? {
          config: part as PeriodicConfig,
          count,
          floor,
          clock,
          granted: (next, later, now) => grantOf(next, part, now, later),
        }
      : undefined,
    decide(states) {
      const now = clock();
      const next = chargeRows(states, part, now, count);
      const [first] = next as [RateLimitState];
      if (!mayOwe && first.value < 0) return { result: undefined };
      const result = grantOf(first, part, now);
      // A charge of nothing must not write, because a closed bucket is recognised by its row.
      const writes = count > 0 ? next : undefined;
      if (next.length === 1) return { result, writes };
      const shards = rows.map(({ shard }, i) => {
        const held = stateAt(states[i] ?? initialState(part, now), part, now);
        return { shard, count: held.value - next[i]!.value };
      });
      return { result: { ...result, value: next.length * result.value, shards }, writes };
    },
  };
}

/** Deletes a row: a row that does not exist is full, whatever the config of its limit. */
export function resetRow(row: RowId): Decision<void> {
  return {
    rows: [row],
    decide: ([state]) => ({ result: undefined, ...(state && { writes: [null] }) }),
  };
}

/**
 * Gives tokens back to rows of a limit. `rest` counts the tokens that were not given back.
 *
 * @param taken what is known of the taking, per row.
 */
export function refund(
  { part }: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
  taken?: readonly TakenTokens[],
): Decision<Omit<RefundedRateLimit, "next">> {
  return {
    rows,
    decide(states) {
      const { next, ...result } =
        taken === undefined
          ? refundRateLimit(states, part, clock(), count)
          : giveBack(states, part, clock(), count, taken);
      return { result, writes: next };
    },
  };
}

/** Reads a limit: its row, or the sum of its shards. */
export function readState(
  limit: ResolvedLimit,
  { clock }: Pick<Environment, "clock">,
): Decision<RateLimitState & Pick<RateLimitSnapshot, "fullest" | "now">> {
  const { config } = limit;
  const { shards = 1 } = config;
  return {
    rows: allRows(limit),
    readOnly: true,
    decide(states) {
      const now = clock();
      const [only] = states;
      const { value, ts } = shards === 1 && only ? only : sumShards(states, config, now);
      const fullest = shards > 1 && { fullest: fullestShards(states, config, now) };
      return { result: { value, ts, ...fullest, now } };
    },
  };
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
    return stateAt(seen[shard] ?? initialState(part, now), part, now).value;
  });
  return b! > a! ? [rows[1]!, rows[0]!] : rows;
}

/** Two different shards, each pair equally likely. */
function pickTwo(shards: number, random: () => number): [number, number] {
  const first = Math.floor(random() * shards);
  const second = (first + 1 + Math.floor(random() * (shards - 1))) % shards;
  return [first, second];
}

/** The distinct rows among these, and the index of each of them. */
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
