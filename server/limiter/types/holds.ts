/** The open holds of a key. */
import type { HoldThen } from "../../../core/rows/hold.js";
import type { KeyOptions } from "./call.js";
import type { LimitConfigs, TokensName } from "./names.js";

/** Tokens that a call has taken, and that nothing has settled yet. */
export interface OpenHold {
  /** The id of the call, hashed where there is a `hashKey`. */
  once: string;
  /** Tokens held. */
  count: number;
  /** What becomes of them when the hold lapses. */
  then: HoldThen;
  /** When it lapses, epoch ms by the clock of the store. May have passed: it then ends with the next denial. */
  until: number;
}

/** `holds`. */
export interface HoldsMethods<TLimits extends LimitConfigs> {
  /**
   * The open holds of a key: those that nothing has settled, and that no call has found lapsed. The
   * ones that lapse first come first. Rejects with a `RateLimitConfigError` for a limit without `holds`.
   *
   * @example
   * const open = await limiter.holds("llmTokens", { key: userId });
   */
  holds(name: TokensName<TLimits>, options?: KeyOptions): Promise<OpenHold[]>;
}
