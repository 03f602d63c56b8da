/** Takes tokens of one limit, or asks whether a call could. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { CallArgs, HoldingOptions, KeyOptions, NameWith, PlanOptions } from "./call.js";
import type { FitsOnce } from "./fits-config.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs } from "./names.js";
import type { PlanBy } from "./plan-types.js";

/** The options of `limit` and `check`. */
export interface LimitOptions extends KeyOptions, HoldingOptions {
  /** Tokens wanted: finite and at least 0, fractions included. @default 1 */
  count?: number;
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
   */
  limit<TName extends NameWith<TTokens, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TBy,
      LimitOptions & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<RateLimitResult>;

  /**
   * The answer that `limit` would give. Consumes nothing.
   *
   * @example
   * const { ok } = await limiter.check("sendMessage", { key: userId });
   */
  check<TName extends NameWith<keyof TLimits & string, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TBy,
      LimitOptions & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<RateLimitResult>;
}

export const LIMIT_OPTIONS = namesOf<LimitOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  reserve: true,
  throws: true,
  once: true,
  hold: true,
});
