/**
 * Remembers what a granted call took, for `settle`. The memory is a private field that is added to
 * the result: the result stays a plain object, which can be sent as JSON and compared.
 * A `WeakMap` would need an entry per call.
 */
import type { RateLimitResult, TakenShard } from "../core/decide.js";
import type { ResolvedLimit } from "./resolve-limit.js";

export interface Taking {
  readonly limit: ResolvedLimit;
  /** Tokens that the call has taken and not given back. */
  count: number;
  /** The tokens left after the call. */
  value: number;
  readonly ts: number;
  shards?: readonly TakenShard[] | undefined;
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
  #of: Pick<Taking, "limit" | "count"> | Taking;

  constructor(result: object, of: Pick<Taking, "limit" | "count">) {
    super(result);
    this.#of = of;
  }

  static takingOf(result: RateLimitResult & { ok: true }): Taking | undefined {
    if (!(#of in result)) return undefined;
    const of = result.#of;
    if ("ts" in of) return of;
    const { limit, count } = of;
    const { value, ts, shards } = result;
    const taking: Taking = { limit, count, value, ts, shards };
    result.#of = taking;
    return taking;
  }
}

/** Adds to a granted result which limit it is about, and how many tokens the call has taken. */
export function remember<TResult extends RateLimitResult>(
  result: TResult,
  of: Pick<Taking, "limit" | "count">,
): TResult {
  return result.ok ? (new Remembering(result, of) as unknown as TResult) : result;
}

/** The same object at each call. `undefined` for a result that no limiter gave, and for a copy. */
export function takingOf(result: RateLimitResult): Taking | undefined {
  return result.ok ? Remembering.takingOf(result) : undefined;
}
