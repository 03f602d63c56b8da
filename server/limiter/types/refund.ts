/** Gives tokens back. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { KeyOptions, GivenKey, KnownKey, NameWith, OwnConfig, PlanOptions } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitFirstResult } from "./limit-first.js";
import type { LimitConfigs } from "./names.js";
import type { MaySayPlan } from "./plan-types.js";

/** The options of `refund`. */
export interface RefundOptions extends KeyOptions {
  /**
   * The result of the call whose tokens are given back. The result says when the tokens were taken, and
   * so which of them have been replaced since: tokens that were refilled or that a new window brought,
   * and tokens that reservations in line rely on. Replaced tokens do not come back. The result also
   * remembers the tokens that `refund` and `settle` gave back, so no token comes back twice. The result
   * has to be of the same limiter, name and key. A copy of a result, such as from JSON, remembers
   * nothing: give tokens back through a copy once, and no more than the call took.
   * @default unknown: `count` tokens are added as a gift, whatever was taken before
   */
  result?: RateLimitResult | undefined;
  /**
   * Tokens given back: finite and at least 0. With a `result`, at most the tokens that its call still
   * keeps.
   * @default 1
   */
  count?: number;
}

/** The options that go with a result of `limitFirst`: `count` alone, because the result says the rest. */
interface CountAlone {
  key?: undefined;
  result?: undefined;
  config?: undefined;
}

/** `refund`. */
export interface RefundMethods<TLimits extends LimitConfigs, TTokens extends string> {
  /**
   * Gives tokens back, up to the capacity. Resolves with the tokens that the rows concerned then hold.
   * Pass the `result` of the call that took the tokens. The result counts the tokens that `refund` and
   * `settle` give back; for transactions, see `settle`. Without a result, the tokens are a gift, which
   * can let more calls through than the limit allows. Rejects with a `RateLimitInputError` for a result
   * of another limiter, name or key.
   *
   * With the result of `limitFirst` in place of a name, at most the tokens come back that its call still
   * keeps. Tokens that were paid last go back first. `value` is the number of tokens given back; of a
   * limit that refills, some of them may have been replaced since. `disabled` says that the limiter is
   * switched off (`enabled`), and that nothing came back.
   *
   * @param of the name of the limit, or the result of `limitFirst`.
   *
   * @example
   * const result = await limiter.limit("sendMessage", { key: userId });
   * const isSent = result.ok && (await send());
   * if (!isSent) await limiter.refund("sendMessage", { key: userId, result });
   */
  refund<
    TOf extends NameWith<TTokens, TConfig> | LimitFirstResult,
    const TConfig = undefined,
    TKey = string,
  >(
    of: TOf,
    ...[options]: KnownKey<
      TKey,
      [
        options?: RefundOptions &
          OwnConfig<TConfig> &
          GivenKey<TKey> &
          MaySayPlan<TLimits> &
          (TOf extends string ? unknown : CountAlone),
      ]
    >
  ): Promise<{ value: number; disabled?: true }>;
}

export const REFUND_OPTIONS = namesOf<RefundOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  result: true,
});
