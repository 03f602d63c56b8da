/**
 * Remembers what a granted call took, for `settle`. The memory is a private field that is added to
 * the result: the result stays a plain object, which can be sent as JSON and compared.
 * A `WeakMap` would need an entry per call.
 */
import type { RateLimitResult, TakenShard } from "../core/decide.js";
import type { TakenTokens } from "../core/refund.js";
import { type ResolvedLimit, rowOf } from "./resolve-limit.js";
import type { RowId } from "./store/store.js";

/** What a call has taken, from which rows. */
export interface Taken {
  /** Tokens that the call keeps, after those that were given back or charged. */
  readonly count: number;
  readonly rows: readonly RowId[];
  /** What each row gave, in the order of `rows`, and what came back to it since. */
  readonly taken: readonly TakenTokens[];
}

export interface Taking {
  readonly limit: ResolvedLimit;
  /** Replaced as a whole, so that a rollback can restore it. */
  now: Taken;
  /** Resolves after the settlements so far. */
  settled: Promise<unknown>;
}

interface Memory {
  readonly limit: ResolvedLimit;
  readonly count: number;
}

/** A constructor that returns an object gives its subclasses that object as `this`. */
// oxlint-disable-next-line no-extraneous-class -- a subclass adds the private field
class Result {
  constructor(result: object) {
    // oxlint-disable-next-line no-constructor-return -- see above
    return result;
  }
}

class Remembering extends Result {
  #of: Memory | Taking;

  constructor(result: object, of: Memory) {
    super(result);
    this.#of = of;
  }

  static takingOf(result: RateLimitResult & { ok: true }): Taking | undefined {
    if (!(#of in result)) return undefined;
    const of = result.#of;
    if ("now" in of && "settled" in of) return of;
    const { limit, count } = of;
    const now = { count, ...takenBy(limit, count, result) };
    const taking: Taking = { limit, now, settled: Promise.resolve() };
    result.#of = taking;
    return taking;
  }
}

/** Adds to a granted result which limit it is about, and how many tokens the call has taken. */
export function remember<TResult extends RateLimitResult>(result: TResult, of: Memory): TResult {
  return result.ok ? (new Remembering(result, of) as unknown as TResult) : result;
}

/** The same object at each call. `undefined` for a result that no limiter gave, and for a copy. */
export function takingOf(result: RateLimitResult): Taking | undefined {
  return Object(result).ok === true
    ? Remembering.takingOf(result as RateLimitResult & { ok: true })
    : undefined;
}

/** The rows that gave the tokens of a call, and what each of them gave. */
export function takenBy(
  limit: ResolvedLimit,
  count: number,
  { value, ts, shards }: { value: number; ts: number; shards?: readonly TakenShard[] | undefined },
): Omit<Taken, "count"> {
  if (shards === undefined) return { rows: limit.rows, taken: [{ count, value, ts }] };
  // A call that uses two shards leaves both with the same value.
  const each = { value: value / shards.length, ts };
  return {
    rows: shards.map(({ shard }) => rowOf(limit, shard)),
    taken: shards.map((shard) => ({ ...each, count: shard.count })),
  };
}

/** As if the call had taken the tokens of a later charge, too. */
export function withCharge(before: Taken, { count, rows, taken }: Taken): Taken {
  // Nothing is left of what it took before, so only the charge counts.
  if (before.count === 0) return { count, rows, taken };
  const all = before.rows.map((row, i) => [row, before.taken[i]!] as const);
  for (const [i, row] of rows.entries()) {
    const charged = taken[i]!;
    const same = all.findIndex(([{ shard }]) => shard === row.shard);
    if (same === -1) {
      all.push([row, charged]);
      continue;
    }
    const [, own] = all[same]!;
    const { count: more } = charged;
    // Seen from the earlier instant, more of it has been replaced, so less can come back.
    all[same] = [row, { ...own, count: own.count + more, value: own.value - more }];
  }
  return {
    count: before.count + count,
    rows: all.map(([row]) => row),
    taken: all.map(([, each]) => each),
  };
}

/**
 * After some of the tokens came back.
 *
 * @param count tokens that the call did not use.
 * @param given those of them that each row got back. The rest had been replaced already.
 */
export function withoutUnused(before: Taken, count: number, given: readonly number[]): Taken {
  const taken = before.taken.map((each, i) => {
    return { ...each, returned: (each.returned ?? 0) + given[i]! };
  });
  return { ...before, count: before.count - count, taken };
}
