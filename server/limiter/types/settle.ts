/**
 * Corrects the tokens that a call has taken to the tokens that it used: by its result, or by the id of
 * its hold.
 */
import type { RateLimitResult } from "../../../core/decide.js";
import type { HoldEnd } from "../../../core/rows/marker.js";
import type { KeyOptions, GivenKey, KnownKey } from "./call.js";
import type { ItemResult, LimitAllResult } from "./limit-all.js";
import type { LimitFirstResult } from "./limit-first.js";
import type { LimitConfigs } from "./names.js";
import type { MaySayPlan } from "./plan-types.js";

/** The result of `settle`. */
export interface SettleResult {
  /**
   * Whether the call now costs what it has used. `false`: the call costs the same as before, because the
   * use is not known, or because the call took nothing (`repeated`, or a shadow that would have denied
   * the call).
   */
  settled: boolean;
  /** The limiter is switched off, see its option `enabled`: nothing was written. */
  disabled?: true;
}

/** How calls name a hold. */
export interface HoldOptions extends KeyOptions {
  /** The id of the call that took the tokens. */
  once: string;
}

/** One of several limits that a hold is of, with a key or a config of its own. */
export interface HeldBucket<TName extends string = string> extends KeyOptions {
  /** The limit. */
  name: TName;
}

/** Why there is nothing to end: how the hold has ended before, or that no hold has this id. */
export type NotHeld = HoldEnd | "unknown";

/**
 * The result of `settle` by an id.
 *
 * - `settled: true`: `count` tokens were held until now, and `value` are left in the bucket.
 * - `settled: false`: nothing changed. `reason` says how the hold has ended before. It is `"unknown"` for
 *   an id that was never held, for an id that is forgotten (`onceFor`), and while the limiter is switched
 *   off (`disabled`).
 */
export type SettledHold =
  | { settled: true; count: number; value: number }
  | { settled: false; reason: NotHeld; disabled?: true };

/** The result of `release`; see {@link SettledHold}. */
export type ReleaseResult =
  | { released: true; count: number; value: number }
  | { released: false; reason: NotHeld; disabled?: true };

/** `settle` and `release`. */
export interface SettleMethods<TLimits extends LimitConfigs, TTokens extends string> {
  /**
   * Corrects the tokens of a granted call to the tokens that it really used: gives the difference back,
   * as `refund` does with a result, or charges it, as `charge` does. A call that is never settled stays
   * as it was estimated. A second call corrects the first one. Calls at the same time take effect one
   * after the other. In `transaction`, a rollback also undoes what the result remembers, and no tokens
   * come back of a call that was rolled back itself. Until the commit, calls outside do not see the
   * tokens that were charged inside. In a transaction of your own (`using`), settle a result once, and
   * only a result of that transaction. Rejects with a `RateLimitInputError` for a result of another
   * limiter.
   *
   * After a `RateLimitStoreError`, a second `settle` charges the difference again, and gives nothing back
   * again, because the first `settle` may have taken effect. The result of a call that was repeated
   * settles nothing, also where the first call holds its tokens.
   *
   * Of `limitFirst`, tokens that were paid last go back first. Use beyond the estimate is charged to the
   * first of its limits. Each limit gets its part by a decision of its own.
   *
   * @param result the result itself that `limit`, `acquire`, `limitFirst` or an item of `limitAll`
   * got; a copy is not enough.
   * @param actual tokens that were used: finite and at least 0. `undefined`, `null` and `NaN` say that
   * the use is not known: the estimate stays charged, `settled` is false, and the logger is told once
   * in a while.
   *
   * @example
   * const estimated = await limiter.limit("llmTokens", { key: userId, count: 1_000 });
   * if (estimated.ok) await limiter.settle(estimated, await runModel());
   */
  settle(
    result: RateLimitResult | LimitFirstResult,
    actual: number | null | undefined,
  ): Promise<SettleResult>;
  /**
   * Settles all limits of a granted `limitAll`. Its holds end in one decision: all of them, or none.
   *
   * @param answer the answer of `limitAll`, with the results themselves.
   * @param actual tokens that were used, of each of the limits; or counts by name, of a `first` under the
   * name of one of its limits. A limit that is left out, or with a use that is not known, stays charged by
   * its estimate, and `settled` is false.
   */
  settle(
    answer: LimitAllResult<readonly ItemResult[]>,
    actual: number | null | undefined | { readonly [TName in TTokens]?: number | null | undefined },
  ): Promise<SettleResult>;
  /**
   * Settles the hold of an id, in whatever process: gives unused tokens back, and charges tokens that
   * were used beyond the hold, also into debt. Of any number of calls, one settles the hold; the others
   * change nothing and say how the hold has ended. A hold that has lapsed is over: see `then` of `hold`.
   * If its tokens were given back then, `charge` the use. Where nothing was used, the id is forgotten, as
   * by `release`. Rejects with a `RateLimitConfigError` for a limit without `holds`. After a failure of
   * the store, `settle` tries again for some 10 s.
   *
   * A hold is settled whole. Where the call took from several limits, name all limits that hold its
   * tokens: with only some of them, `settle` rejects with a `RateLimitInputError`, and changes nothing.
   *
   * `actual` counts the tokens that were used: finite and at least 0. Of `limitFirst`, of all limits
   * together. Of `limitAll`, of each of the limits, or an object of counts by name. A count that is
   * missing or NaN, as a provider may report it, settles the hold as it was estimated.
   *
   * @param names the limit; of `limitAll` and `limitFirst`, the limits in their order, limits with
   * another key as `{ name, key }`.
   * @param options the key and the id of the call, and its `config` if the call had a config.
   *
   * @example
   * const hold = { key: userId, once: jobId };
   * const { settled } = await limiter.settle("llmTokens", hold, await runModel());
   */
  settle<TKey = string>(
    names: TTokens | readonly (TTokens | HeldBucket<TTokens>)[],
    ...[options, actual]: KnownKey<
      TKey,
      [
        options: HoldOptions & GivenKey<TKey> & MaySayPlan<TLimits>,
        actual:
          number | null | undefined | { readonly [TName in TTokens]?: number | null | undefined },
      ]
    >
  ): Promise<SettledHold>;

  /**
   * Gives all tokens of a hold back, in whatever process, for work that was not done. Its id is
   * forgotten, so the same call can take its tokens again. See `settle`.
   *
   * @example
   * await limiter.release("llmTokens", { key: userId, once: jobId });
   */
  release<TKey = string>(
    names: TTokens | readonly (TTokens | HeldBucket<TTokens>)[],
    ...[options]: KnownKey<TKey, [options: HoldOptions & GivenKey<TKey> & MaySayPlan<TLimits>]>
  ): Promise<ReleaseResult>;
}
