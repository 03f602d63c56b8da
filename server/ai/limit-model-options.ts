/** The options of `limitModel`. */
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { HoldTerms } from "../limiter/types/hold-terms.js";
import type { LimitConfigs, RefillingName, TokensName } from "../limiter/types/names.js";
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
  Readonly<Record<"limit" | "limitAll" | "settle" | "observe", AnyFunction>>;

type OrFunction<TValue> = TValue | ((call: ModelCall) => TValue | Promise<TValue>);

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
  of?: "tokens" | "requests" | undefined;
}

/**
 * A limit of a provider has no plans: the provider has one limit for all of the application's callers.
 */
type ProviderName<TLimits> = Exclude<RefillingName<TLimits>, PlannedName<TLimits>>;

/** The limits from which a call of a model takes tokens. */
export interface ModelLimits<TLimits extends LimitConfigs> {
  /** The caller's own limit. */
  name: TokensName<TLimits> & string;
  /**
   * The user or team that calls, or a function of the call that returns their key: `({ params }) =>
   * params.providerOptions?.app?.userId as string`. `SHARED_BUCKET` for one bucket of all callers.
   */
  key: OrFunction<KeyAnswer>;
  /**
   * The plan of the caller, or a function of the call that returns the plan. For a limit with plans.
   * @default what the `plan` function of the limiter says
   */
  plan?: OrFunction<PlanName<TLimits>> | undefined;
  /**
   * The config of the call, where no plan has that config. Not together with `plan`.
   * @default the limit's own config, or the config of the caller's plan
   */
  config?: OrFunction<RateLimitConfig | undefined> | undefined;
  /**
   * The limits of the provider, which have no plans. The header fields of the provider's answers lower
   * these limits, for all processes; see `observe`.
   */
  provider?: ProviderLimit<ProviderName<TLimits>> | readonly ProviderLimit<ProviderName<TLimits>>[];
}

/** The options of `limitModel`. */
export interface LimitModelOptions<TLimits extends LimitConfigs> extends ModelLimits<TLimits> {
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
   * `holds: true` hold; the other limits charge.
   * @default none: the estimate of a process that dies stays charged
   */
  hold?: HoldTerms | undefined;
}
