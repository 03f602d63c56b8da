/** Adds to a balance of credits. */
import type { ContextOption, GivenKey, KnownKey } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs } from "./names.js";

/** The options of `credit`. */
export interface CreditOptions extends ContextOption {
  /** The key of the balance; see `KeyOptions`. */
  key?: string;
  /** Credits to add: finite and at least 0. Whole numbers add up exactly. */
  count: number;
  /**
   * An id, such as that of a payment that a webhook tells of. The credits are added once, however often
   * the call is repeated with the same id within `onceFor`. The id and the key have at most 190
   * characters together.
   * @default none: each call adds its credits
   */
  once?: string | undefined;
}

/** The result of `credit`. */
export interface CreditResult {
  /** The balance, with the credits. */
  value: number;
  /**
   * The credits that this call has added: fewer than `count` where the balance has reached its
   * `capacity`, and 0 where an earlier call had the same id.
   */
  credited: number;
  /** An earlier call had the same id: `value` is the balance that the first call got. */
  repeated?: true;
  /** The limiter is switched off, see its option `enabled`: nothing was written. */
  disabled?: true;
}

/** `unknown` for the config of credits. Any other config does not compile. */
export type OfCredits<TConfig> = "kind" extends keyof TConfig
  ? "credits" extends TConfig["kind"]
    ? unknown
    : NotCredits
  : unknown;

/** The compiler's message shows the name of this type. */
export interface NotCredits {
  /** The kind that `credit` needs of a limit. */
  kind: "credits";
}

/** `credit`. */
export interface CreditMethods<TLimits extends LimitConfigs> {
  /**
   * Adds to a balance of credits (`kind: "credits"`), up to its capacity. Resolves with the balance. Rejects
   * with a `RateLimitConfigError` for a limit that refills.
   *
   * @example
   * const { value } = await limiter.credit("credits", { key: userId, count: 100 });
   */
  credit<TName extends keyof TLimits & string, TKey = string>(
    name: TName & OfCredits<TLimits[TName]>,
    ...[options]: KnownKey<TKey, [options: CreditOptions & GivenKey<TKey>]>
  ): Promise<CreditResult>;
}

export const CREDIT_OPTIONS = namesOf<CreditOptions>({
  key: true,
  count: true,
  once: true,
  context: true,
});
