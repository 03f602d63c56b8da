/** A provider's figures about its own limit. */
import type { KeyOptions, GivenKey, KnownKey, NameWith, OwnConfig, PlanOptions } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs, RefillingName } from "./names.js";
import type { MaySayPlan } from "./plan-types.js";

/** The options of `observe`: the figures of a provider about its own limit. */
export interface ObserveOptions extends KeyOptions {
  /**
   * The tokens that the provider says are left. A figure that is missing, negative or not finite changes
   * nothing, and the logger is told once in a while.
   */
  remaining: number | null | undefined;
  /**
   * After how many ms the provider lets a call pass again: 0 to 31 days. `retryAfter` counts only where
   * nothing remains.
   * @default none: what is left refills as the limit says
   */
  retryAfter?: number | null | undefined;
  /**
   * The same as an instant, epoch ms, in place of `retryAfter`. An instant that has passed means no wait.
   */
  resetAt?: number | null | undefined;
}

/** The result of `observe`. */
export interface ObserveResult {
  /** Whether the figures could be used. */
  observed: boolean;
  /** Whether the limit has lost tokens. */
  lowered: boolean;
  /** The limiter is switched off, see its option `enabled`: nothing was written. */
  disabled?: true;
}

/** `observe`. */
export interface ObserveMethods<TLimits extends LimitConfigs> {
  /**
   * Tells the limit what a provider says about its own limit, such as in the header fields of its
   * answers. Lowers the bucket to `remaining` tokens, and never raises it. So all processes share the
   * tokens that the provider has left. Where nothing remains, `retryAfter` makes later calls wait for so
   * long, and never shortens a longer wait. In a fixed window, later calls wait until the first window
   * that starts then or later. A figure that cannot be true changes nothing, and ends nothing: `observed`
   * is false. Rejects with a `RateLimitConfigError` for credits. With `blockFor`, the wait counts as a
   * closing.
   *
   * @example
   * const response = await fetch("https://api.example.com");
   * const remaining = Number(response.headers.get("x-ratelimit-remaining"));
   * await limiter.observe("llmTokens", { key: userId, remaining });
   */
  observe<const TConfig = undefined, TKey = string>(
    name: NameWith<RefillingName<TLimits>, TConfig>,
    ...[options]: KnownKey<
      TKey,
      [options: ObserveOptions & OwnConfig<TConfig> & GivenKey<TKey> & MaySayPlan<TLimits>]
    >
  ): Promise<ObserveResult>;
}

export const OBSERVE_OPTIONS = namesOf<ObserveOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  remaining: true,
  retryAfter: true,
  resetAt: true,
});
