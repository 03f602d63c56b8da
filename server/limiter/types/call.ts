/** The options that every call may have: a key, a plan, a config of its own, an id. */
import type { RateLimitConfig } from "../../../core/limit-config.js";
import type { FitsCalendar, FitsKind } from "./fits-config.js";
import type { HoldTerms } from "./hold-terms.js";
import { namesOf } from "./known-options.js";
import type { LimitName } from "./names.js";
import type { PlanArgs, PlanBy, SaysPlan } from "./plan-types.js";

/** The bucket that a call is about, and its config. */
export interface KeyOptions {
  /**
   * The user, team or address to limit: 1 to 191 UTF-16 code units, no NUL, no lone surrogate. Keys that
   * differ in any way are different buckets. An empty string and `undefined` are errors, because a
   * missing user id looks like them.
   * @default left out: the one bucket that all callers share
   */
  key?: string;
  /**
   * The limit's config for this call only, for what is no plan, such as a quota of one customer. This
   * config applies to the same row as the limit's own config. `prune` does not know this config: it
   * deletes a row that is full by the limit's own config, its plans and its overrides. So give a config
   * that refills more slowly as a plan, or as an override.
   */
  config?: RateLimitConfig | undefined;
}

/** The plan of a call on a limit that has plans. */
export interface PlanOptions {
  /**
   * The plan of the key: one of the limiter's `plans`. A limit with plans needs a plan, unless the
   * limiter's `plan` function says the plan. All plans apply to the same row: used tokens stay used.
   */
  plan?: string | undefined;
}

/** The id of a call, for calls that may be sent again. */
export interface OnceOptions {
  /**
   * An id of what the call is for: 1 to 190 UTF-16 code units together with the key. Within `onceFor`,
   * the same id is charged once per limit and key, from whatever process. A later call with the same id
   * gets the first answer with `repeated`, whatever its `count`, and takes nothing. Denials are not
   * remembered. The id is forgotten when all tokens of the first call are given back. Do not trust an id
   * that a client makes: a client that sends one id again and again is charged once. Not with `shards`.
   * @default left out: each call is charged
   */
  once?: string | undefined;
}

/** What a call passes on to those who hear of its decisions. */
export interface ContextOption {
  /**
   * The `context` of the events that `onDecision` gets, such as the request, for its logs. The limiter does
   * not look at it. Hosts, such as tRPC, give that of their requests.
   * @default none
   */
  context?: unknown;
}

/** Holds the tokens of a call under its id, for calls whose cost is known later. */
export interface HoldingOptions extends OnceOptions {
  /**
   * Holds the tokens under the id of the call (`once`): `settle(name, { key, once }, actual)` in any
   * process then corrects the tokens to the use, exactly once, and `release` gives the tokens back. Needs
   * `holds: true` of the limit, and a `count` above 0.
   * @default left out: the tokens are spent
   */
  hold?: HoldTerms | undefined;
}

/**
 * The names that a call may have: those of the limiter, and any other name if the call has a config.
 * `TConfig` is the type of the call's `config`, and `undefined` for a call without a config. The name
 * depends on the config, and not the other way round, so that the compiler reports a misspelt name as
 * such.
 */
export type NameWith<TName extends string, TConfig> = undefined extends TConfig
  ? TName
  : LimitName<TName>;

/** The options of a call of one limit: its key, its own config, its plan, and those of the operation. */
export type CallArgs<TLimits, TName, TConfig, TKey, TBy extends PlanBy, TOptions> = KnownKey<
  TKey,
  PlanArgs<
    TLimits[TName & keyof TLimits],
    NoInfer<TConfig>,
    TBy,
    TOptions &
      OwnConfig<TConfig> &
      GivenKey<TKey> &
      SaysPlan<TLimits[TName & keyof TLimits], NoInfer<TConfig>, TBy>
  >
>;

/**
 * Refuses a `key` that may be `undefined`: a missing user id would take from the bucket that all callers
 * share. Only `exactOptionalPropertyTypes` would make TypeScript refuse it by itself.
 *
 * @typeParam TKey inferred by `GivenKey` from the call's `key`; `string` for a call without one.
 * @typeParam TArgs the arguments of a call whose key is known.
 */
export type KnownKey<TKey, TArgs extends readonly unknown[]> = [TKey] extends [string]
  ? TArgs
  : unknown extends TKey
    ? TArgs
    : KeyMissing;

/**
 * Infers the type of `key` with its `undefined`, which the compiler takes from the type of an optional
 * property. Of the options, only `key` fits the pattern: no option is in upper case. A variable of options
 * fits the second part, so its key counts as known.
 */
export type GivenKey<TKey> = KeyPattern<TKey> | { key?: string };

interface KeyPattern<TKey> {
  [key: `ke${Uppercase<string>}y`]: TKey;
}

/** The arguments of a call whose key may be `undefined`, and must not. */
type KeyMissing = [
  options: KeyMayBeMissing | readonly (KeyMayBeMissing | string)[],
  // Not `unknown`, or the compiler would see `throws: true` as a boolean.
  ...others: (object | number | null | undefined)[],
];

/** The compiler's message shows the name of this type. */
export interface KeyMayBeMissing {
  /** Left out for the bucket that all callers share, or the key of a visitor without a user. */
  key: string;
  /** The other options. */
  [option: string]: unknown;
}

/** The result of a call: of a call that throws where it is denied (`throws: true`), a grant. */
export type ResultOf<TResult, TThrows> = TThrows extends true
  ? Extract<TResult, { ok: true }>
  : TResult;

/** Infers the type of a call's own `config`, and names the options in it that do not go together. */
export type OwnConfig<TConfig> = GivenConfig<TConfig> & FittingConfig<TConfig>;

/**
 * A type of its own: within an intersection of types for one property, TypeScript would infer no union of
 * configs.
 */
interface GivenConfig<TConfig> {
  config?: TConfig | undefined;
}

interface FittingConfig<TConfig> {
  config?: (FitsKind<TConfig> & FitsCalendar<TConfig>) | undefined;
}

/** The options of a call with a name that the limiter does not know: `config` is required. */
export type WithConfig<TOptions, TName extends string = never> = TOptions &
  ConfigUnlessNamed<TName>;

/**
 * The config that a call needs, unless its name is one of `_TName`. The names are here for the compiler's
 * message: where `config` is missing, the message shows this type with the names.
 */
export interface ConfigUnlessNamed<_TName extends string> {
  /** The config of a limit that the limiter does not know. */
  config: RateLimitConfig;
}

/**
 * The plan of an item of a list. The plan may be left out where the limiter's `plan` function says the
 * plan.
 */
export type PlanOfItem<TPlan extends string, TBy extends PlanBy> = "limiter" extends TBy
  ? { plan?: TPlan | undefined }
  : { plan: TPlan };

export const KEY_OPTIONS = namesOf<KeyOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
});
