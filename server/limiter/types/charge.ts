/** Records use that has happened. */
import type {
  CallArgs,
  ContextOption,
  KeyOptions,
  NameWith,
  OnceOptions,
  PlanOptions,
} from "./call.js";
import type { FitsOnce } from "./fits-config.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs } from "./names.js";
import type { PlanBy } from "./plan-types.js";

/** The options of `charge`. */
export interface ChargeOptions extends KeyOptions, OnceOptions, ContextOption {
  /** Tokens that were used: finite and at least 0. @default 1 */
  count?: number;
}

/** The result of `charge`. */
export interface ChargeResult {
  /** The tokens left in the rows that were charged; negative while tokens are owed. */
  value: number;
  /** Whole ms until the debt is repaid; absent where there is no debt. */
  retryAfter?: number;
  /** The id was charged before: this is the first answer, and nothing was taken. See `once`. */
  repeated?: true;
  /** The limiter is switched off, see its option `enabled`: nothing was written. */
  disabled?: true;
}

/** `charge`. */
export interface ChargeMethods<
  TLimits extends LimitConfigs,
  TTokens extends string,
  TBy extends PlanBy,
> {
  /**
   * Records use that has happened: takes the tokens even where too few are left, into debt, and also
   * beyond `maxReserved`. Later calls wait until the debt is repaid. Rejects with a `RateLimitInputError`
   * for a count that takes more than 71,000 years to refill.
   *
   * @example
   * await limiter.charge("llmTokens", { key: userId, count: 1_200 });
   */
  charge<TName extends NameWith<TTokens, TConfig>, const TConfig = undefined, TKey = string>(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TKey,
      TBy,
      ChargeOptions & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<ChargeResult>;
}

export const CHARGE_OPTIONS = namesOf<ChargeOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  once: true,
  context: true,
});
