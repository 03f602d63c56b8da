/** Takes tokens of several limits, or of none. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { HoldingOptions, PlanOfItem, PlanOptions, WithConfig } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitOptions } from "./limit.js";
import type { LimitConfigs, LimitName, TokensName } from "./names.js";
import type { PlanBy, PlanName, PlannedName } from "./plan-types.js";

/** One of several limits; see `LimitOptions`. */
export interface LimitAllItem extends Omit<LimitOptions, "throws" | "once" | "hold" | "atLeast"> {
  /** The limit to charge. */
  name: string;
}

/** The options of `limitAll`. With `hold`, only the limits with `holds: true` hold their tokens. */
export interface LimitAllOptions extends HoldingOptions {
  /**
   * Throw a `RateLimitError` when denied. The error is about the limit with the longest wait. Its
   * `denials` are the `results` that are not `ok`, by name.
   * @default false
   */
  throws?: boolean | undefined;
}

/**
 * - `ok: true`: every limit was charged. `results` has one result each. `retryAfter` is present
 *   when tokens were reserved. `disabled` is present when the limiter is switched off (`enabled`).
 * - `ok: false`: nothing was consumed. All items pass after `retryAfter` whole ms. `name` is the limit
 *   with the longest wait. `results` has the result that each item would have got in its turn: the
 *   results that are not `ok` are those of the exhausted limits.
 */
export type LimitAllResult =
  | { ok: true; retryAfter?: number; results: RateLimitResult[]; disabled?: true }
  | { ok: false; retryAfter: number; name: string; results: RateLimitResult[] };

/** An item of `limitAll`: a name that the limiter does not know needs a `config`. */
export type LimitAllItemOf<
  TLimits,
  TTokens extends string = TokensName<TLimits>,
  TBy extends PlanBy = "call",
> =
  | KnownItemOf<TLimits, TTokens, TBy>
  | (WithConfig<LimitAllItem, keyof TLimits & string> & {
      name: LimitName<keyof TLimits & string>;
    });

/** An item of a list of the limiter's own limits: an item of a limit with plans says its plan. */
export type KnownItemOf<TLimits, TTokens extends string, TBy extends PlanBy> = [
  PlannedName<TLimits>,
] extends [never]
  ? LimitAllItem & { name: TTokens }
  : | (LimitAllItem & { name: Exclude<TTokens, PlannedName<TLimits>> })
    | (LimitAllItem & { name: Extract<TTokens, PlannedName<TLimits>> } & PlanOfItem<
          PlanName<TLimits>,
          TBy
        >);

/** `limitAll`. */
export interface LimitAllMethods<
  TLimits extends LimitConfigs,
  TTokens extends string,
  TBy extends PlanBy,
> {
  /**
   * Consumes from every limit, or from none. All limits are decided in one step, whatever their order.
   *
   * @example
   * const { ok } = await limiter.limitAll([
   *   { name: "sendMessage", key: userId },
   *   { name: "messagesOfTeam", key: teamId },
   * ]);
   */
  limitAll(
    items: readonly LimitAllItemOf<TLimits, TTokens, TBy>[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;
  limitAll(
    items: readonly KnownItemOf<TLimits, TTokens, TBy>[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;
}

export const ITEM_OPTIONS = namesOf<LimitAllItem & PlanOptions>({
  name: true,
  key: true,
  plan: true,
  config: true,
  count: true,
  reserve: true,
});

export const LIMIT_ALL_OPTIONS = namesOf<LimitAllOptions>({
  throws: true,
  once: true,
  hold: true,
});
