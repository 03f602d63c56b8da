/** Gives tokens back. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { KeyOptions, NameWith, OwnConfig, PlanOptions } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitFirstResult } from "./limit-first.js";
import type { LimitConfigs } from "./names.js";
import type { MaySayPlan } from "./plan-types.js";

/** The options of `refund`. */
export interface RefundOptions extends KeyOptions {
  /**
   * The result of the call whose tokens are given back. It says when they were taken, and so which
   * of them have been replaced since: those that were refilled or that a new window brought, and
   * those that reservations in line rely on. These do not come back. The result itself also
   * remembers what `refund` and `settle` gave back, so no token of it comes back twice. It has to be
   * of the same limiter, name and key. A copy, such as one from JSON, remembers nothing: give back
   * through it once, and no more than the call took.
   * @default unknown: `count` tokens are added as a gift, whatever was taken before
   */
  result?: RateLimitResult | undefined;
  /**
   * Tokens given back: finite and at least 0. With a `result`, at most those that its call still
   * keeps.
   * @default 1
   */
  count?: number;
}

/** What goes with a result of `limitFirst`, which says the rest itself. */
interface CountAlone {
  key?: undefined;
  result?: undefined;
  config?: undefined;
}

/** `refund`. */
export interface RefundMethods<TLimits extends LimitConfigs, TTokens extends string> {
  /**
   * Gives tokens back, up to the capacity. Resolves with the tokens that the rows concerned then
   * hold. Pass the `result` of the call that took them. It counts what `refund` and `settle` give
   * back, in transactions like `settle`. Without it, the tokens are a gift, which can let more
   * through than the limit allows. Rejects with a `RateLimitInputError` for a result of another
   * limiter, name or key.
   *
   * With the result of `limitFirst` in place of a name, at most those tokens come back that its call
   * keeps. What was paid last goes back first. `value` is their number; of a limit that refills, some
   * may have been replaced since.
   *
   * @param of the name of the limit, or the result of `limitFirst`.
   *
   * @example
   * const result = await limiter.limit("sendMessage", { key: userId });
   * const isSent = result.ok && (await send());
   * if (!isSent) await limiter.refund("sendMessage", { key: userId, result });
   */
  refund<TOf extends NameWith<TTokens, TConfig> | LimitFirstResult, const TConfig = undefined>(
    of: TOf,
    options?: RefundOptions &
      OwnConfig<TConfig> &
      MaySayPlan<TLimits> &
      (TOf extends string ? unknown : CountAlone),
  ): Promise<{ value: number }>;
}

export const REFUND_OPTIONS = namesOf<RefundOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  result: true,
});
