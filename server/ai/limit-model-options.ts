/** The options of `limitModel`. */
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { HoldTerms } from "../limiter/types/hold-terms.js";
import type { LimitConfigs, RefillingName, SlotsName, TokensName } from "../limiter/types/names.js";
import type { KeyAnswer } from "../limiter/types/key-answer.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { PlannedName, PlanName } from "../limiter/types/plan-types.js";
import type { ModelCall, ModelUsage } from "./model-types.js";

type AnyFunction = (...args: never) => unknown;

/**
 * The part of a limiter that limits models. The methods are loosely typed: their types differ by the
 * store, and by whether the limiter or a call says the plans.
 */
export type ModelLimiter<TLimits extends LimitConfigs> = Pick<
  RateLimiter<TLimits, never>,
  "limits"
> &
  Readonly<Record<"limit" | "limitAll" | "settle" | "observe", AnyFunction>> & {
    /** Needed for `slots`. */
    readonly enter?: AnyFunction;
  };

export type OrFunction<TValue> = TValue | ((call: ModelCall) => TValue | Promise<TValue>);

/** What a limit counts: the tokens of calls, or the calls. */
export type ModelUnit = "tokens" | "requests";

/** A limit that the provider has for all callers together. */
export interface ProviderLimit<TName extends string = string> {
  /** The limit. The estimate is taken of the caller's own limit and of this limit, or of neither. */
  name: TName;
  /** The key, such as a key for the model's group. @default the one bucket that all callers share */
  key?: string | undefined;
  /**
   * The unit that the provider counts. A limit of requests takes 1 for each call.
   * @default "tokens"
   */
  of?: ModelUnit | undefined;
}

/**
 * A limit of a provider has no plans: the provider has one limit for all of the application's callers.
 */
type ProviderName<TLimits> = Exclude<RefillingName<TLimits>, PlannedName<TLimits>>;

/** The plan or the config by which a limit is charged. */
interface ModelTerms<TLimits extends LimitConfigs> {
  /**
   * The plan of the key, or a function of the call that returns the plan. For a limit with plans.
   * @default what the `plan` function of the limiter says
   */
  plan?: OrFunction<PlanName<TLimits>> | undefined;
  /**
   * The config of the call, where no plan has that config. Not together with `plan`.
   * @default the limit's own config, or the config of the caller's plan
   */
  config?: OrFunction<RateLimitConfig | undefined> | undefined;
}

/** The caller's own limit, from which a call of a model takes tokens. */
export interface ModelLimits<TLimits extends LimitConfigs>
  extends ModelTerms<TLimits>, Pick<ModelCallOptions<TLimits>, "provider"> {
  /** The caller's own limit. */
  name: TokensName<TLimits> & string;
  /**
   * The user or team that calls, or a function of the call that returns their key: `({ params }) =>
   * params.providerOptions?.app?.userId as string`. `SHARED_BUCKET` for one bucket of all callers.
   */
  key: OrFunction<KeyAnswer>;
  /** See `limits` of {@link LimitModelAllOptions}. */
  limits?: undefined;
}

/** One of several limits of a call, such as the limit of a member or of a team. */
export interface ModelLimit<TLimits extends LimitConfigs> extends ModelTerms<TLimits> {
  /** The limit. */
  name: TokensName<TLimits> & string;
  /** Whose limit it is, or a function of the call that returns the key; see `key` of `limitModel`. */
  key: OrFunction<KeyAnswer>;
  /** What the limit counts. A limit of requests takes 1 for each call. @default "tokens" */
  of?: ModelUnit | undefined;
}

/** Several limits of a call, of which the first pays that has the tokens; see `limitFirst`. */
export interface ModelFirst<TLimits extends LimitConfigs> extends Pick<
  ModelTerms<TLimits>,
  "plan"
> {
  /** The limits that may pay, in order, such as the plan and then the credits. */
  first: readonly ((TokensName<TLimits> & string) | ModelPayer<TLimits>)[];
  /** The key of the limits that have no key of their own. */
  key?: OrFunction<KeyAnswer> | undefined;
  /** Each limit gives the tokens that it has, in order; see `split` of `limitFirst`. @default false */
  split?: boolean | undefined;
}

/** One of the limits that may pay for a call. */
export type ModelPayer<TLimits extends LimitConfigs> = Omit<ModelLimit<TLimits>, "key" | "of"> &
  Partial<Pick<ModelLimit<TLimits>, "key">>;

/** The options of a limit that a `first` does not have. */
type NoLimit = { [TOption in "name" | "of" | "config"]?: undefined };

/** The slots that a call of a model holds. */
export interface ModelSlots<TLimits extends LimitConfigs> {
  /** The limit, of `kind: "concurrency"`. */
  name: SlotsName<TLimits> & string;
  /** Whose slots they are, or a function of the call that returns the key; see `key` of `limitModel`. */
  key: OrFunction<KeyAnswer>;
  /** The plan of the key, for a limit with plans. @default what the `plan` function of the limiter says */
  plan?: OrFunction<PlanName<TLimits>> | undefined;
  /** How long a call waits in line for a slot, ms; see `maxWait` of `enter`. @default none */
  maxWait?: number | undefined;
}

/** The options of `limitModel` beside the limits of the caller. */
export interface ModelCallOptions<TLimits extends LimitConfigs> {
  /**
   * The limits of the provider, which have no plans. The header fields of the provider's answers lower
   * these limits, for all processes; see `observe`.
   */
  provider?: ProviderLimit<ProviderName<TLimits>> | readonly ProviderLimit<ProviderName<TLimits>>[];
  /**
   * A slot that the call holds as long as the answer streams: until its end, an error, or until its reader
   * has left. A call without a slot is denied, and takes no tokens. A stream that is not read for the `ttl`
   * of the slots frees its slot: pass the signal of the request to the model (`abortSignal`), which frees the
   * slot at once. Each step of a run with tools holds a slot of its own.
   * @default none
   */
  slots?: ModelSlots<TLimits> | undefined;
  /**
   * The tokens that a call takes before the model is asked: finite and at least 0. Estimate high.
   * @default a token for 3 bytes of the texts in the prompt and the tools, 1,000 for each file in it, and
   * `maxOutputTokens`, or 4,000 where the call sets none
   */
  estimate?: ((call: ModelCall) => number | Promise<number>) | undefined;
  /**
   * The tokens to charge, from the use that the model reports. `undefined` or `NaN` keeps the estimate.
   * @default the provider's total, or else input and output together
   */
  tokens?: ((usage: ModelUsage) => number | undefined) | undefined;
  /**
   * The id of the call. A call that is repeated with its id is charged once; see `once` of `limit`. A run
   * with tools makes a call for each step, and each step needs an id of its own. A repeated call settles
   * nothing: the first call settles the charge, or the hold of the first call lapses.
   * @default each call is charged
   */
  once?: ((call: ModelCall) => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * Holds the estimate until the call is settled: pages show held tokens apart from spent tokens. The
   * terms say what becomes of the estimate if the process dies meanwhile; see `hold` of `limit`. The hold
   * has the id of `once`, or a random id. `for` must be longer than any answer takes. Only limits with
   * `holds: true` hold; the other limits charge. All holds of a call end in one decision.
   * @default none: the estimate of a process that dies stays charged
   */
  hold?: HoldTerms | undefined;
  /**
   * The `context` of the events that `onDecision` gets of a call, such as its request, or a function of the
   * call that returns it; see `context` of `limit`.
   * @default none
   */
  context?: object | string | ((call: ModelCall) => unknown) | undefined;
}

/** The options of `limitModel` with one limit of the caller. */
export interface LimitModelOptions<TLimits extends LimitConfigs>
  extends ModelLimits<TLimits>, ModelCallOptions<TLimits> {}

/** The options of `limitModel` with several limits of the caller. */
export interface LimitModelAllOptions<
  TLimits extends LimitConfigs,
> extends ModelCallOptions<TLimits> {
  /**
   * The limits that a call takes of, all or none, as `limitAll` does: limits, and lists of limits of which
   * the first pays. They are settled together.
   */
  limits: readonly (ModelLimit<TLimits> | (ModelFirst<TLimits> & NoLimit))[];
  /** See {@link LimitModelOptions}. */
  name?: undefined;
  /** Each limit has its own. */
  key?: undefined;
  /** Each limit has its own. */
  plan?: undefined;
  /** Each limit has its own. */
  config?: undefined;
}
