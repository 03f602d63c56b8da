/** The open holds of a key. */
import type { HoldThen } from "../../../core/rows/hold.js";
import type { KeyOptions, GivenKey, KnownKey } from "./call.js";
import type { LimitConfigs, TokensName } from "./names.js";

/** Tokens that a call has taken, and that nothing has settled yet. */
export interface OpenHold {
  /** The id of the call, hashed where there is a `hashKey`. */
  once: string;
  /** Tokens held. */
  count: number;
  /** Whether the tokens are kept or come back when the hold lapses. */
  then: HoldThen;
  /**
   * When the hold lapses, epoch ms by the clock of the store. The instant may have passed: the hold then
   * ends with the next denial.
   */
  until: number;
}

/** `holds`. */
export interface HoldsMethods<TLimits extends LimitConfigs> {
  /**
   * The open holds of a key: the holds that nothing has settled, and that no call has found lapsed. The
   * holds that lapse first come first. Rejects with a `RateLimitConfigError` for a limit without `holds`.
   *
   * @example
   * const open = await limiter.holds("llmTokens", { key: userId });
   */
  holds<TKey = string>(
    name: TokensName<TLimits>,
    ...[options]: KnownKey<TKey, [options?: KeyOptions & GivenKey<TKey>]>
  ): Promise<OpenHold[]>;
}
