/**
 * Remembers what a granted call took, for `settle`. The memory is a private field that is added to
 * the result: the result stays a plain object, which can be sent as JSON and compared.
 * A `WeakMap` would need an entry per call.
 */
import type { RateLimitResult } from "../core/decide.js";
import type { TakenTokens } from "../core/refund.js";
import { type ResolvedLimit, rowOf } from "./resolve-limit.js";
import type { RowId } from "./store/store.js";

export interface Taking {
  readonly limit: ResolvedLimit;
  /** Tokens that the call keeps, after those that were given back or charged. */
  count: number;
  /** The rows that gave the tokens. */
  readonly rows: readonly RowId[];
  /** The tokens that each of the rows gave, and those of them that were given back since. */
  readonly taken: readonly TakenTokens[];
  /** Resolves when the tokens of earlier settlements have come back. */
  givingBack: Promise<void>;
}

/** The call that got a result, until the result is settled. */
type Origin = Pick<Taking, "limit" | "count">;

/** A constructor that returns an object gives its subclasses that object as `this`. */
// oxlint-disable-next-line no-extraneous-class -- a subclass adds the private field
class Result {
  constructor(result: object) {
    // oxlint-disable-next-line no-constructor-return -- see above
    return result;
  }
}

class Remembering extends Result {
  #of: Origin | Taking;

  constructor(result: object, of: Origin) {
    super(result);
    this.#of = of;
  }

  static takingOf(result: RateLimitResult & { ok: true }): Taking | undefined {
    if (!(#of in result)) return undefined;
    const of = result.#of;
    if ("taken" in of) return of;
    const { limit, count } = of;
    const origin = takenBy(limit, count, result);
    const taking: Taking = { limit, count, ...origin, givingBack: Promise.resolve() };
    result.#of = taking;
    return taking;
  }
}

/** Adds to a granted result which limit it is about, and how many tokens the call has taken. */
export function remember<TResult extends RateLimitResult>(result: TResult, of: Origin): TResult {
  return result.ok ? (new Remembering(result, of) as unknown as TResult) : result;
}

/** The same object at each call. `undefined` for a result that no limiter gave, and for a copy. */
export function takingOf(result: RateLimitResult): Taking | undefined {
  return result.ok ? Remembering.takingOf(result) : undefined;
}

/** The rows that gave the tokens of a call, and what each of them gave. */
export function takenBy(
  limit: ResolvedLimit,
  count: number,
  { value, ts, shards }: RateLimitResult & { ok: true },
): Pick<Taking, "rows" | "taken"> {
  if (shards === undefined) return { rows: limit.rows, taken: [{ count, value, ts }] };
  // A call that uses two shards leaves both with the same value.
  const each = { value: value / shards.length, ts };
  return {
    rows: shards.map(({ shard }) => rowOf(limit, shard)),
    taken: shards.map((shard) => ({ ...each, count: shard.count })),
  };
}
