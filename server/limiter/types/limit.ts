/** Takes tokens of one limit, or asks whether a call could. */
import type { RateLimitResult } from "../../../core/decide.js";
import type {
  CallArgs,
  ContextOption,
  HoldingOptions,
  KeyOptions,
  NameWith,
  PlanOptions,
  ResultOf,
} from "./call.js";
import type { FitsOnce } from "./fits-config.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs } from "./names.js";
import type { PlanBy } from "./plan-types.js";

/**
 * The options of `limit` and `check`.
 *
 * @typeParam TAtLeast `never` for a call without `atLeast`.
 */
export interface LimitOptions<TAtLeast extends number = number>
  extends KeyOptions, HoldingOptions, ContextOption {
  /** Tokens wanted: finite and at least 0, fractions included. @default 1 */
  count?: number;
  /**
   * Take as many tokens as fit, up to `count`: finite, above 0 and at most `count`, which may then be above
   * the capacity. `granted` of the result says how many. A call for which fewer than `atLeast` are there is
   * denied until they are. If both are whole numbers, whole tokens are granted. With `shards`, the tokens
   * are those of two shards; with a `lease`, those of the row. Denials are not repeated from memory. Not
   * with `reserve`.
   * @default left out: `count` tokens, or none
   */
  atLeast?: TAtLeast;
  /**
   * Take tokens that are still to come, up to `maxReserved`. The result is then `ok` with a `retryAfter`:
   * do the work after that many ms. In a fixed window, all reservations that one window pays for may
   * begin when that window begins; tokens that were left of the window before come on top.
   * @default false
   */
  reserve?: boolean | undefined;
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: boolean | undefined;
}

/** The result of `limit` and `check`: of a call with `atLeast`, a grant says how many tokens it got. */
export type LimitResult<TAtLeast> = [TAtLeast] extends [never]
  ? RateLimitResult
  : | (Extract<RateLimitResult, { ok: true }> & { granted: number })
    | Extract<RateLimitResult, { ok: false }>;

/** The options of `limit` and `check`, by which their result is known to be a grant. */
export interface LimitOptionsOf<
  TThrows extends boolean,
  TAtLeast extends number = number,
> extends LimitOptions<TAtLeast> {
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: TThrows | undefined;
}

/** `limit` and `check`. */
export interface LimitMethods<
  TLimits extends LimitConfigs,
  TTokens extends string,
  TBy extends PlanBy,
> {
  /**
   * Consumes tokens if there are enough. A denied call changes nothing, unless it closes the bucket
   * (`blockFor`).
   *
   * @example
   * const { ok, retryAfter } = await limiter.limit("sendMessage", { key: userId });
   * if (!ok) console.log(`Try again in ${retryAfter} ms`);
   *
   * @example
   * const some = await limiter.limit("sendMessage", { key: userId, count: 50, atLeast: 1 });
   * if (some.ok) console.log(`${some.granted} of 50 may be sent`);
   */
  limit<
    TName extends NameWith<TTokens, TConfig>,
    const TConfig = undefined,
    TAtLeast extends number = never,
    TKey = string,
    TThrows extends boolean = false,
  >(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TKey,
      TBy,
      LimitOptionsOf<TThrows, TAtLeast> & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<ResultOf<LimitResult<TAtLeast>, TThrows>>;

  /**
   * The answer that `limit` would give. Consumes nothing.
   *
   * @example
   * const { ok } = await limiter.check("sendMessage", { key: userId });
   */
  check<
    TName extends NameWith<keyof TLimits & string, TConfig>,
    const TConfig = undefined,
    TAtLeast extends number = never,
    TKey = string,
    TThrows extends boolean = false,
  >(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TKey,
      TBy,
      LimitOptionsOf<TThrows, TAtLeast> & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<ResultOf<LimitResult<TAtLeast>, TThrows>>;
}

export const LIMIT_OPTIONS = namesOf<LimitOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  atLeast: true,
  reserve: true,
  throws: true,
  once: true,
  hold: true,
  context: true,
});
