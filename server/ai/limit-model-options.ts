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
 * What of a limiter limits models. Any store will do, and the limiter or a call may say the plans, so the
 * types of the methods are not asked.
 */
export type ModelLimiter<TLimits extends LimitConfigs> = Pick<
  RateLimiter<TLimits, never>,
  "limits"
> &
  Readonly<Record<"limit" | "limitAll" | "settle" | "observe", AnyFunction>>;

type OrFunction<TValue> = TValue | ((call: ModelCall) => TValue | Promise<TValue>);

/** A limit that the provider has for all callers together. */
export interface ProviderLimit<TName extends string = string> {
  /** The limit. It takes the estimate together with the caller's own limit, all or none. */
  name: TName;
  /** The key, such as that of the model's group. @default the one bucket that all callers share */
  key?: string | undefined;
  /**
   * What the provider counts. A limit of requests takes 1 for each call.
   * @default "tokens"
   */
  of?: "tokens" | "requests" | undefined;
}

/** A provider has one limit for all of its customers, whatever their plans are. */
type ProviderName<TLimits> = Exclude<RefillingName<TLimits>, PlannedName<TLimits>>;

/** The limits that a call of a model takes tokens of. */
export interface ModelLimits<TLimits extends LimitConfigs> {
  /** The caller's own limit. */
  name: TokensName<TLimits> & string;
  /**
   * The user or team that calls, or a function of the call that says it: `({ params }) =>
   * params.providerOptions?.app?.userId as string`. `SHARED_BUCKET` for one bucket of all callers.
   */
  key: OrFunction<KeyAnswer>;
  /**
   * The plan of the caller, or a function of the call that says it: for a limit with plans.
   * @default what the `plan` function of the limiter says
   */
  plan?: OrFunction<PlanName<TLimits>> | undefined;
  /**
   * The config of the call, for what is no plan. Not with `plan`.
   * @default the limit's own, or that of the caller's plan
   */
  config?: OrFunction<RateLimitConfig | undefined> | undefined;
  /**
   * The limits of the provider, which have no plans. They are lowered to what the header fields of its
   * answers say, for all processes; see `observe`.
   */
  provider?: ProviderLimit<ProviderName<TLimits>> | readonly ProviderLimit<ProviderName<TLimits>>[];
}

/** The options of `limitModel`. */
export interface LimitModelOptions<TLimits extends LimitConfigs> extends ModelLimits<TLimits> {
  /**
   * Tokens that a call takes before it begins: finite and at least 0. Estimate high.
   * @default a token for 3 bytes of the texts in the prompt and the tools, 1,000 for each file in it, and
   * `maxOutputTokens`, or 4,000 where the call sets none
   */
  estimate?: ((call: ModelCall) => number | Promise<number>) | undefined;
  /**
   * What of the reported use counts, in tokens. `undefined` or `NaN` keeps the estimate.
   * @default the provider's total, or else input and output together
   */
  tokens?: ((usage: ModelUsage) => number | undefined) | undefined;
  /**
   * The id of the call, which is charged once however often it is sent; see `once` of `limit`. A run
   * with tools makes a call for each step, and each needs an id of its own. A call that is repeated
   * settles nothing: the first one does, or its hold lapses.
   * @default each call is charged
   */
  once?: ((call: ModelCall) => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * Holds the estimate under the id of the call, or under one of its own, until it is settled: pages tell
   * it from what is spent. It says what becomes of it if the process dies meanwhile; see `hold` of
   * `limit`. `for` must be longer than any answer takes. Those of the limits hold that have
   * `holds: true`.
   * @default none: the estimate of a process that dies stays charged
   */
  hold?: HoldTerms | undefined;
}
