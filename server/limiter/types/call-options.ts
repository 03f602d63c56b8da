/** The options and results of a limiter's calls. */
import type { ShownConfig } from "../../../core/config.js";
import type { RateLimitState } from "../../../core/calculate.js";
import type {
  ConcurrencyConfig,
  CreditsConfig,
  LimitConfig,
  RateLimitConfig,
} from "../../../core/limit-config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { FitsCalendar, FitsKind } from "./fits-config.js";
import type { HoldTerms } from "./hold-terms.js";
import type {
  PlanArgs,
  PlanBy,
  PlannedConcurrencyConfig,
  PlannedConfig,
  PlannedName,
  PlanName,
  SaysPlan,
} from "./plan-types.js";

/** The limits of a limiter: their configs by name. */
export type LimitConfigs = Record<string, LimitConfig | PlannedConfig>;

/** The names of the limits that have tokens. */
export type TokensName<TLimits> = keyof {
  [TName in keyof TLimits & string as TLimits[TName] extends AnySlots ? never : TName]: unknown;
};

type AnySlots = ConcurrencyConfig | PlannedConcurrencyConfig;

/** The names of the limits that have slots: those of `kind: "concurrency"`. */
export type SlotsName<TLimits> = {
  [TName in keyof TLimits & string]: ConcurrencyConfig extends TLimits[TName]
    ? TName
    : TLimits[TName] extends AnySlots
      ? TName
      : never;
}[keyof TLimits & string];

/** The names of the limits whose tokens come by themselves: neither slots nor credits. */
export type RefillingName<TLimits> = keyof {
  [
    TName in keyof TLimits & string as TLimits[TName] extends AnySlots | CreditsConfig
      ? never
      : TName
  ]: unknown;
};

/** Autocompletes the names of the limits, and takes other strings where a config comes along. */
export type LimitName<TName extends string> = TName | (string & {});

/** The bucket that a call is about, and its config. */
export interface KeyOptions {
  /**
   * The user, team or address to limit: 1 to 191 UTF-16 code units, no NUL, no lone surrogate. Keys
   * that differ in any way are different buckets. An empty string and `undefined` are errors:
   * that is what a missing user id looks like.
   * @default left out: the one bucket that all callers share
   */
  key?: string;
  /**
   * The limit's config for this call only, for what is no plan, such as a quota of one customer. It
   * applies to the same row as the limit's own config. A row is pruned when it is full by the limit's
   * own config, its plans and its overrides: so say a slower one as a plan, or as an override.
   */
  config?: RateLimitConfig | undefined;
}

/** The plan of a call on a limit that has plans. */
export interface PlanOptions {
  /**
   * The plan of the key: one of the limiter's `plans`. A limit with plans needs it, unless the limiter's
   * own `plan` says it. It applies to the same row as every other plan: what was used stays used.
   */
  plan?: string | undefined;
}

/** The options of `getValue`. */
export interface ValueOptions extends Omit<KeyOptions, "config"> {
  /**
   * The limit's config for this call only; see `config` of `limit`. What it may be, the call says: from a
   * type that is just that of the argument, the compiler would infer nothing.
   */
  config?: unknown;
}

/** The id of a call, for calls that may be sent again. */
export interface OnceOptions {
  /**
   * An id of what the call is for: 1 to 190 UTF-16 code units together with the key. Within `onceFor`,
   * the same id is charged once per limit and key, from whatever process. A later call with it gets
   * the first answer with `repeated`, whatever its `count`, and takes nothing. Denials are not
   * remembered. Giving all tokens of the first call back forgets its id. An id that a client makes is
   * a claim: a client that sends one id again and again is charged once. Not with `shards`.
   * @default left out: each call is charged
   */
  once?: string | undefined;
}

/** Holds the tokens of a call under its id, for calls whose cost is known later. */
export interface HoldingOptions extends OnceOptions {
  /**
   * Holds the tokens under the id of the call (`once`): `settle(name, { key, once }, actual)` in any process
   * then corrects them to what was used, exactly once, and `release` gives them back. Needs
   * `holds: true` of the limit, and a `count` above 0.
   * @default left out: the tokens are spent
   */
  hold?: HoldTerms | undefined;
}

/** The options of `limit` and `check`. */
export interface LimitOptions extends KeyOptions, HoldingOptions {
  /** Tokens wanted: finite and at least 0, fractions included. @default 1 */
  count?: number;
  /**
   * Take tokens that are still to come, up to `maxReserved`. The result is then `ok` with a
   * `retryAfter`: do the work after that many ms. All turns that a fixed window pays for begin with it,
   * beside what was left of the window before.
   * @default false
   */
  reserve?: boolean | undefined;
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: boolean | undefined;
}

/** The options of `acquire`. */
export interface AcquireOptions extends Omit<LimitOptions, "reserve" | "throws"> {
  /**
   * The longest wait, ms. A call that would have to wait longer is denied: at once, as far as the rows
   * and the calls before it in this process tell, and at the latest after so many ms.
   * @default unlimited
   */
  maxWait?: number | undefined;
  /** Ends the wait when it is aborted. What was reserved goes to the next call in line, or back. */
  signal?: AbortSignal | undefined;
}

/** The options of `charge`. */
export interface ChargeOptions extends KeyOptions, OnceOptions {
  /** Tokens that were used: finite and at least 0. @default 1 */
  count?: number;
}

/** The result of `charge`. */
export interface ChargeResult {
  /** The tokens left in the rows that were charged; negative while they are owed. */
  value: number;
  /** Whole ms until the debt is repaid; absent where there is none. */
  retryAfter?: number;
  /** The id was charged before: this is the first answer, and nothing was taken. See `once`. */
  repeated?: true;
}

/** The result of `settle`. */
export interface SettleResult {
  /**
   * Whether the call now costs what it has used. `false`: it costs what it did before, because the use
   * is not known, or because the call took nothing (`repeated`, or a shadow that would have denied it).
   */
  settled: boolean;
}

/** The options of `refund`. */
export interface RefundOptions extends KeyOptions {
  /**
   * The result of the call whose tokens are given back. It says when they were taken, and so which
   * of them have been replaced since: those that were refilled or that a new window brought, and
   * those that reservations in line rely on. These do not come back. The result itself also
   * remembers what `refund` and `settle` gave back, so no token of it comes back twice. It has to be
   * of the same limiter, name and key. A copy, such as one from JSON, remembers nothing: give back
   * through it once, and no more than the call took.
   * @default unknown: `count` tokens are added as a gift, whatever was taken before
   */
  result?: RateLimitResult | undefined;
  /**
   * Tokens given back: finite and at least 0. With a `result`, at most those that its call still
   * keeps.
   * @default 1
   */
  count?: number;
}

/** The options of `observe`: what a provider says about its own limit. */
export interface ObserveOptions extends KeyOptions {
  /**
   * The tokens that the provider says are left. A figure that is missing, negative or not finite changes
   * nothing, and the logger is told once in a while.
   */
  remaining: number | null | undefined;
  /**
   * After how many ms the provider lets a call pass again: 0 to 31 days. It counts where nothing remains.
   * @default none: what is left refills as the limit says
   */
  retryAfter?: number | null | undefined;
  /** The same as an instant, epoch ms, in place of `retryAfter`. One that is over is no wait. */
  resetAt?: number | null | undefined;
}

/** The result of `observe`. */
export interface ObserveResult {
  /** Whether the figures could be used. */
  observed: boolean;
  /** Whether the limit has lost tokens. */
  lowered: boolean;
}

/** One of several limits; see `LimitOptions`. */
export interface LimitAllItem extends Omit<LimitOptions, "throws" | "once" | "hold"> {
  /** The limit to charge. */
  name: string;
}

/** The options of `limitAll`. With `hold`, those of the limits hold their tokens that have holds. */
export interface LimitAllOptions extends HoldingOptions {
  /**
   * Throw a `RateLimitError` when denied. It is about the limit with the longest wait. Its `denials`
   * are the `results` that are not `ok`, by name.
   * @default false
   */
  throws?: boolean | undefined;
}

/**
 * - `ok: true`: every limit was charged. `results` has one result each. `retryAfter` is present
 *   when tokens were reserved.
 * - `ok: false`: nothing was consumed. All of them pass after `retryAfter` whole ms. `name` is the
 *   limit with the longest wait. `results` says what each item would have got in its turn: those
 *   that are not `ok` are the exhausted limits.
 */
export type LimitAllResult =
  | { ok: true; retryAfter?: number; results: RateLimitResult[] }
  | { ok: false; retryAfter: number; name: string; results: RateLimitResult[] };

/**
 * The names that a call may have: those of the limiter, and any other one if it has a config.
 * `TConfig` is the type of its `config`, and `undefined` for a call without one. The name depends on
 * the config, and not the other way round, so that the compiler reports a misspelt name as such.
 */
export type NameWith<TName extends string, TConfig> = undefined extends TConfig
  ? TName
  : LimitName<TName>;

/** The options of a call of one limit: its own config, the plan that it says, and those of the operation. */
export type CallArgs<TLimits, TName, TConfig, TBy extends PlanBy, TOptions> = PlanArgs<
  TLimits[TName & keyof TLimits],
  NoInfer<TConfig>,
  TBy,
  TOptions & OwnConfig<TConfig> & SaysPlan<TLimits[TName & keyof TLimits], NoInfer<TConfig>, TBy>
>;

/** Infers the type of a call's own `config`, and says what does not go with the rest of it. */
export type OwnConfig<TConfig> = GivenConfig<TConfig> & FittingConfig<TConfig>;

/** On its own: in an intersection of one property, no union of configs would be inferred. */
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
 * The config that a call needs, unless its name is one of `_TName`. The names are here for the
 * compiler's message: where `config` is missing, it says the name of this type with them.
 */
export interface ConfigUnlessNamed<_TName extends string> {
  /** The config of a limit that the limiter does not know. */
  config: RateLimitConfig;
}

/** The result of `getValue`. */
export type LimitValue = RateLimitState & {
  /** The config by which the tokens are calculated. */
  config: ShownConfig;
  /**
   * Tokens that are held and not yet settled, of a limit with holds. They are not in `value`. Those whose
   * hold has lapsed count until a call needs them, or `prune` finds them.
   */
  held?: number;
};

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

/** An item of a list of the limiter's own limits: one that has plans says which one. */
export type KnownItemOf<TLimits, TTokens extends string, TBy extends PlanBy> = [
  PlannedName<TLimits>,
] extends [never]
  ? LimitAllItem & { name: TTokens }
  : | (LimitAllItem & { name: Exclude<TTokens, PlannedName<TLimits>> })
    | (LimitAllItem & { name: Extract<TTokens, PlannedName<TLimits>> } & PlanOfItem<
          PlanName<TLimits>,
          TBy
        >);

/** A limit whose state is asked for: one that has plans says which one. */
export type ShownItemOf<TLimits, TName extends string, TBy extends PlanBy> = TName extends unknown
  ? KeyOptions & { name: TName } & (TName extends PlannedName<TLimits>
        ? PlanOfItem<PlanName<TLimits>, TBy>
        : unknown)
  : never;

/** The plan of an item of a list, which the limiter may say. */
export type PlanOfItem<TPlan extends string, TBy extends PlanBy> = "limiter" extends TBy
  ? { plan?: TPlan | undefined }
  : { plan: TPlan };
