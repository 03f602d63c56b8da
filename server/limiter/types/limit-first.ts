/** Takes tokens of the first limit that has them. */
import type { RateLimitResult } from "../../../core/decide.js";
import type {
  ContextOption,
  HoldingOptions,
  KeyOptions,
  GivenKey,
  KnownKey,
  PlanOptions,
  ResultOf,
} from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs } from "./names.js";
import type { PlanBy, PlanName, PlanOfList } from "./plan-types.js";

/** One of the limits that may pay for a call of `limitFirst`. */
export interface LimitFirstItem extends KeyOptions {
  /** The limit. */
  name: string;
  /**
   * Tokens that the call costs here, where limits count in different units: finite and at least 0.
   * Not with `split`.
   * @default the `count` of the call
   */
  count?: number;
}

/**
 * The options of `limitFirst`. The id of `once` is charged once for all of the limits. With `hold`, all
 * of the limits need `holds: true`: `settle(names, { key, once }, actual)` ends the holds of the limits
 * that paid.
 */
export interface LimitFirstOptions extends HoldingOptions, ContextOption {
  /** The key of the items that have no key of their own; see `KeyOptions`. */
  key?: string;
  /** Tokens that the call costs: finite and at least 0, fractions included. @default 1 */
  count?: number;
  /**
   * Each limit gives the tokens that it has, in order, until the call has all its tokens. If all limits
   * together have too few, nothing is taken. Of a whole `count`, each limit gives whole tokens.
   * @default false: one limit pays for the whole call
   */
  split?: boolean | undefined;
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: boolean | undefined;
}

/** The options of `limitFirst`, by which its result is known to be a grant. */
export interface LimitFirstOptionsOf<TThrows extends boolean> extends LimitFirstOptions {
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: TThrows | undefined;
}

/** The tokens that one limit paid for a call. */
export interface PaidCount<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** The key of the bucket; absent for the bucket that all callers share. */
  key?: string;
  /** Tokens that the limit gave. */
  count: number;
}

/**
 * - `ok: true`: `paid` says which limits gave how many tokens, in order. `results` has one result for each
 *   limit that was asked, in order: the results of limits that did not pay are not `ok`. Limits after the
 *   last limit that paid are not asked. If the store failed and a limit lets calls through then
 *   (`whenStoreFails: "allow"`), or the limiter is switched off (`disabled`), nothing was paid. If the id
 *   of the call was charged before (`repeated`), this call paid nothing, too; `results` then has the first
 *   answers of the limits that paid.
 * - `ok: false`: nothing was taken. The same call passes after `retryAfter` whole ms, and never if
 *   `retryAfter` is 8e15 (`MAX_RETRY_AFTER`). `name` is the limit with the shortest wait. `results` has
 *   one result for each limit, with the wait that this limit alone would need.
 */
export type LimitFirstResult<TName extends string = string> =
  | {
      ok: true;
      paid: PaidCount<TName>[];
      results: RateLimitResult[];
      repeated?: true;
      disabled?: true;
    }
  | { ok: false; retryAfter: number; name: TName; results: RateLimitResult[] };

/** `limitFirst`. */
export interface LimitFirstMethods<TLimits extends LimitConfigs, TBy extends PlanBy> {
  /**
   * The first of several limits that has the tokens pays for the call: the plan's tokens first, then the
   * credits. With `split`, each limit gives the tokens that it has, in order. All limits are decided in
   * one step. `limitFirst` closes no bucket (`blockFor`), asks no block of a `lease`, and repeats no
   * denial from memory. Rejects with a `RateLimitInputError` for a count that none of the limits could
   * ever grant, and with a `RateLimitConfigError` for a limit that is a shadow, or that is there twice
   * with one key.
   *
   * @example
   * const result = await limiter.limitFirst(["plan", "credits"], { key: userId });
   * if (result.ok) console.log(`paid by ${result.paid[0]?.name}`);
   */
  limitFirst<TName extends keyof TLimits & string, TKey = string, TThrows extends boolean = false>(
    items: readonly (
      TName | (LimitFirstItem & { name: TName; plan?: PlanName<TLimits> } & GivenKey<TKey>)
    )[],
    ...[options]: KnownKey<
      TKey,
      PlanOfList<
        TLimits,
        TName,
        TBy,
        LimitFirstOptionsOf<TThrows> & { split?: false | undefined } & GivenKey<TKey>
      >
    >
  ): Promise<ResultOf<LimitFirstResult<TName>, TThrows>>;
  /**
   * Each limit gives the tokens that it has, in order, until the call has all its tokens, or nothing is
   * taken.
   */
  limitFirst<TName extends keyof TLimits & string, TKey = string, TThrows extends boolean = false>(
    items: readonly (
      | TName
      | (LimitFirstItem & {
          name: TName;
          count?: undefined;
          plan?: PlanName<TLimits>;
        } & GivenKey<TKey>)
    )[],
    ...[options]: KnownKey<
      TKey,
      PlanOfList<TLimits, TName, TBy, LimitFirstOptionsOf<TThrows> & GivenKey<TKey>>
    >
  ): Promise<ResultOf<LimitFirstResult<TName>, TThrows>>;
}

export const FIRST_ITEM_OPTIONS = namesOf<LimitFirstItem & PlanOptions>({
  name: true,
  key: true,
  plan: true,
  config: true,
  count: true,
});

export const FIRST_OPTIONS = namesOf<LimitFirstOptions & PlanOptions>({
  key: true,
  plan: true,
  count: true,
  split: true,
  throws: true,
  once: true,
  hold: true,
  context: true,
});
