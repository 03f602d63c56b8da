/** Fills a bucket. */
import type { KeyOptions, GivenKey, KnownKey, NameWith, OwnConfig } from "./call.js";
import type { LimitConfigs } from "./names.js";
import type { MaySayPlan } from "./plan-types.js";

/** `reset`. */
export interface ResetMethods<TLimits extends LimitConfigs> {
  /**
   * Fills the bucket and forgets its reservations.
   *
   * @example
   * await limiter.reset("sendMessage", { key: userId });
   */
  reset<const TConfig = undefined, TKey = string>(
    name: NameWith<keyof TLimits & string, TConfig>,
    ...[options]: KnownKey<
      TKey,
      [options?: KeyOptions & OwnConfig<TConfig> & GivenKey<TKey> & MaySayPlan<TLimits>]
    >
  ): Promise<void>;
}
