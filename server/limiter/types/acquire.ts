/** Waits for tokens. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { CallArgs, NameWith, PlanOptions, ResultOf } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitOptions } from "./limit.js";
import type { LimitConfigs, TokensName } from "./names.js";
import type { PlanBy } from "./plan-types.js";

/** The options of `acquire`. */
export interface AcquireOptions extends Omit<LimitOptions, "reserve" | "throws" | "atLeast"> {
  /**
   * The longest wait, ms. A call that would have to wait longer is denied. The denial comes at once where
   * the rows and the earlier calls of this process tell that the wait is too long, and after `maxWait` ms
   * at the latest.
   * @default unlimited
   */
  maxWait?: number | undefined;
  /**
   * Ends the wait when it is aborted. Tokens that were reserved go to the next call in line, or back to
   * the bucket.
   */
  signal?: AbortSignal | undefined;
}

/** `acquire`. */
export interface AcquireMethods<TLimits extends LimitConfigs, TBy extends PlanBy> {
  /**
   * Waits for its turn among the calls of this process, reserves tokens, and resolves when the work may
   * be done. A call that leaves the line has cost nothing. Rejects with a `RateLimitError` when the wait
   * would be longer than `maxWait`, and with the signal's reason when the signal is aborted.
   *
   * @example
   * await limiter.acquire("sendMessage", { key: userId, maxWait: 5_000 });
   * await send();
   */
  acquire<
    TName extends NameWith<TokensName<TLimits>, TConfig>,
    const TConfig = undefined,
    TKey = string,
  >(
    name: TName,
    ...[options]: CallArgs<TLimits, TName, TConfig, TKey, TBy, AcquireOptions>
  ): Promise<ResultOf<RateLimitResult, true>>;
}

export const ACQUIRE_OPTIONS = namesOf<AcquireOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  count: true,
  maxWait: true,
  signal: true,
  once: true,
  hold: true,
  context: true,
});
