/** Fills a bucket. */
import type { KeyOptions, NameWith, OwnConfig } from "./call.js";
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
  reset<const TConfig = undefined>(
    name: NameWith<keyof TLimits & string, TConfig>,
    options?: KeyOptions & OwnConfig<TConfig> & MaySayPlan<TLimits>,
  ): Promise<void>;
}
