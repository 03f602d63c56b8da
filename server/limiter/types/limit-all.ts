/** Takes tokens of several limits, or of none. */
import type { RateLimitResult } from "../../../core/decide.js";
import type {
  ContextOption,
  HoldingOptions,
  GivenKey,
  KeyOptions,
  KnownKey,
  PlanOfItem,
  PlanOptions,
  ResultOf,
  WithConfig,
} from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitFirstItem, LimitFirstResult } from "./limit-first.js";
import type { LimitOptions } from "./limit.js";
import type { LimitConfigs, LimitName, TokensName } from "./names.js";
import type { PlanBy, PlanName, PlannedName } from "./plan-types.js";

/** One of several limits; see `LimitOptions`. */
export interface LimitAllItem extends Omit<
  LimitOptions,
  "throws" | "once" | "hold" | "atLeast" | "context"
> {
  /** The limit to charge. */
  name: string;
}

/**
 * Several limits of which the first pays that has the tokens, as an item of `limitAll`; see `limitFirst`. No
 * other item may be for the bucket of one of them.
 */
export interface LimitAllFirst {
  /** The limits that may pay, in order: names, or items of `limitFirst`. */
  first: readonly (string | LimitFirstItem)[];
  /** The key of the limits that have no key of their own; see `KeyOptions`. */
  key?: string;
  /** Tokens that the call costs. @default 1 */
  count?: number;
  /** Each limit gives the tokens that it has, in order; see `split` of `limitFirst`. @default false */
  split?: boolean | undefined;
}

/**
 * The options of `limitAll`. With `hold`, only the limits with `holds: true` hold their tokens. Of the
 * limits of a `first`, all or none have `holds: true`, and at most one `first` holds.
 */
export interface LimitAllOptions extends HoldingOptions, ContextOption {
  /**
   * Throw a `RateLimitError` when denied. The error is about the limit with the longest wait. Its
   * `denials` are the `results` that are not `ok`, by name.
   * @default false
   */
  throws?: boolean | undefined;
}

/** The result of an item of `limitAll`: a `first` has the result of `limitFirst`. */
export type ItemResult = RateLimitResult | LimitFirstResult;

/** The options of `limitAll`, by which its result is known to be a grant. */
export interface LimitAllOptionsOf<TThrows extends boolean> extends LimitAllOptions {
  /** Throw a `RateLimitError` when denied. @default false */
  throws?: TThrows | undefined;
}

/**
 * - `ok: true`: every limit was charged. `results` has one result each. `retryAfter` is present
 *   when tokens were reserved. `disabled` is present when the limiter is switched off (`enabled`).
 * - `ok: false`: nothing was consumed. All items pass after `retryAfter` whole ms. `name` is the limit
 *   with the longest wait. `results` has the result that each item would have got in its turn: the
 *   results that are not `ok` are those of the exhausted limits.
 *
 * Of a `first` that denies, `name` is the limit that can pay soonest, and the `denials` of an error are all
 * of its limits.
 */
export type LimitAllResult<TResults extends readonly ItemResult[] = RateLimitResult[]> =
  | { ok: true; retryAfter?: number; results: TResults; disabled?: true }
  | { ok: false; retryAfter: number; name: string; results: TResults };

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

/** A `first` of a limiter's own limits: it says the plan of its limits, unless each limit says its own. */
export type LimitAllFirstOf<
  TLimits,
  TTokens extends string = TokensName<TLimits>,
  TBy extends PlanBy = "call",
> = [PlannedName<TLimits>] extends [never]
  ? LimitAllFirst & { first: readonly (TTokens | NamedPayer<TTokens>)[] }
  : | (LimitAllFirst & {
        first: readonly (
          | Exclude<TTokens, PlannedName<TLimits>>
          | NamedPayer<Exclude<TTokens, PlannedName<TLimits>>>
          | (NamedPayer<Extract<TTokens, PlannedName<TLimits>>> &
              PlanOfItem<PlanName<TLimits>, TBy>)
        )[];
      })
    | (LimitAllFirst &
        PlanOfItem<PlanName<TLimits>, TBy> & {
          first: readonly (
            TTokens | (NamedPayer<TTokens> & { plan?: PlanName<TLimits> | undefined })
          )[];
        });

/** Any item of `limitAll`. */
export type AnyItemOf<TLimits, TTokens extends string, TBy extends PlanBy> =
  LimitAllItemOf<TLimits, TTokens, TBy> | LimitAllFirstOf<TLimits, TTokens, TBy>;

type NamedPayer<TName extends string> = LimitFirstItem & { name: TName };

/** A list in which an item has a `first`. */
export type HasFirst<TItems extends readonly unknown[]> = [
  Extract<TItems[number], { first: unknown }>,
] extends [never]
  ? never
  : unknown;

/**
 * A list without options that do not exist. The compiler looks for such options only where it infers no type
 * of the list.
 */
export type OnlyKnown<TItems extends readonly unknown[]> = {
  [TIndex in keyof TItems]: Unknown<
    Exclude<
      keyof TItems[TIndex],
      "plan" | keyof (TItems[TIndex] extends { first: unknown } ? LimitAllFirst : LimitAllItem)
    >
  >;
};

type Unknown<TOption extends PropertyKey> = [TOption] extends [never]
  ? unknown
  : { [TName in TOption]: never };

/** The results of the items of a list, in order. */
export type ResultsOf<TItems extends readonly unknown[]> = {
  -readonly [TIndex in keyof TItems]: TItems[TIndex] extends {
    first: readonly (infer TPayer)[];
  }
    ? LimitFirstResult<NameOf<TPayer>>
    : RateLimitResult;
};

type NameOf<TPayer> = TPayer extends string
  ? TPayer
  : TPayer extends { name: infer TName extends string }
    ? TName
    : never;

/** `limitAll`. */
export interface LimitAllMethods<
  TLimits extends LimitConfigs,
  TTokens extends string,
  TBy extends PlanBy,
> {
  /**
   * Consumes from every limit, or from none. All limits are decided in one step, whatever their order. An
   * item with `first` consumes from the first of its limits that has the tokens.
   *
   * @example
   * const { ok } = await limiter.limitAll([
   *   { name: "sendMessage", key: userId },
   *   { name: "messagesOfTeam", key: teamId },
   *   { first: ["plan", "credits"], key: userId },
   * ]);
   */
  limitAll<TKey = string, TThrows extends boolean = false>(
    ...[items, options]: KnownKey<
      TKey,
      [
        items: readonly (LimitAllItemOf<TLimits, TTokens, TBy> & GivenKey<TKey>)[],
        options?: LimitAllOptionsOf<TThrows>,
      ]
    >
  ): Promise<ResultOf<LimitAllResult, TThrows>>;
  limitAll<
    const TItems extends readonly AnyItemOf<TLimits, TTokens, TBy>[],
    TThrows extends boolean = false,
  >(
    items: TItems & HasFirst<TItems> & OnlyKnown<TItems>,
    options?: LimitAllOptionsOf<TThrows>,
  ): Promise<ResultOf<LimitAllResult<ResultsOf<TItems>>, TThrows>>;
  limitAll<TKey = string, TThrows extends boolean = false>(
    ...[items, options]: KnownKey<
      TKey,
      [
        items: readonly ((
          | (KnownItemOf<TLimits, TTokens, TBy> & { first?: undefined })
          | (LimitAllFirstOf<TLimits, TTokens, TBy> & NoItem)
        ) &
          GivenKey<TKey>)[],
        options?: LimitAllOptionsOf<TThrows>,
      ]
    >
  ): Promise<ResultOf<LimitAllResult<ItemResult[]>, TThrows>>;
}

/** The options of an item that a `first` does not have. */
type NoItem = {
  [TOption in Exclude<keyof LimitAllItem, keyof LimitAllFirst>]?: undefined;
};

export const ITEM_OPTIONS = namesOf<LimitAllItem & PlanOptions>({
  name: true,
  key: true,
  plan: true,
  config: true,
  count: true,
  reserve: true,
});

export const FIRST_OF_ALL_OPTIONS = namesOf<LimitAllFirst & Pick<KeyOptions, "key"> & PlanOptions>({
  first: true,
  key: true,
  plan: true,
  count: true,
  split: true,
});

export const LIMIT_ALL_OPTIONS = namesOf<LimitAllOptions>({
  throws: true,
  once: true,
  hold: true,
  context: true,
});
