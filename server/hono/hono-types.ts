/** The types of the middleware that `createRateLimitHono` returns as `rateLimited`. */
import type { Context, Env, MiddlewareHandler } from "hono";
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { ChargedOn, ChargingLimiter } from "../hosts/charge-request.js";
import type { RateLimitRefusal } from "../hosts/refusal.js";
import type { RateLimitHeadersOptions } from "../http/x-rate-limit.js";
import type { LimitAllResult } from "../limiter/types/limit-all.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { KeyAnswer } from "../limiter/types/key-answer.js";
import type { PlannedName, PlanName } from "../limiter/types/plan-types.js";

type OrFunction<TEnv extends Env, TName extends string, TValue> =
  TValue | ((c: Context<TEnv>, name: TName) => TValue | Promise<TValue>);

/**
 * Answers a request that is not let through, in place of `rateLimitResponse`.
 *
 * @param refusal why, with the error: `reason` is `"denied"`, `"no key"`, `"invalid input"` or
 * `"store failure"`.
 * @param response the answer that the request gets otherwise: return it, or take its header fields.
 */
export type HonoRespond<TEnv extends Env> = (
  c: Context<TEnv>,
  refusal: RateLimitRefusal,
  response: Response,
) => Response | Promise<Response>;

/** The options of `createRateLimitHono`. */
export interface RateLimitHonoOptions<
  TEnv extends Env,
  TLimits extends LimitConfigs,
> extends RateLimitHeadersOptions {
  /** The limiter, or a function of the request where each request has its own, as on Workers. */
  limiter: ChargingLimiter<TLimits> | ((c: Context<TEnv>) => ChargingLimiter<TLimits>);
  /**
   * The key of a request's bucket. Return `SHARED_BUCKET` for the bucket that all callers share, and `null`
   * to refuse the request: with 400, or as `respond` answers `"no key"`. Declare the type of `c` for the
   * variables of your own middleware: `(c: Context<AppEnv>) => …`.
   */
  key: (c: Context<TEnv>, name: keyof TLimits & string) => KeyAnswer | Promise<KeyAnswer>;
  /**
   * The plan of this caller, such as the plan of a paying user. Called for limits with plans alone. An
   * answer that is no plan of the limiter throws a `RateLimitConfigError`.
   * @default what the `plan` function of the limiter says
   */
  plan?:
    | ((
        c: Context<TEnv>,
        name: PlannedName<TLimits>,
      ) => PlanName<TLimits> | Promise<PlanName<TLimits>>)
    | undefined;
  /**
   * The config of a limit for this caller, where no plan has that config. `undefined` means the limit's
   * own config, or the config of the caller's plan. The config of this function goes before every plan.
   * @default the limit's own config, or the config of the caller's plan
   */
  config?:
    | ((
        c: Context<TEnv>,
        name: keyof TLimits & string,
      ) => RateLimitConfig | undefined | Promise<RateLimitConfig | undefined>)
    | undefined;
  /** Your own answer to requests that are not let through. @default `rateLimitResponse` */
  respond?: HonoRespond<TEnv> | undefined;
}

/** The tokens that a request is charged, and the bucket. */
export interface HonoRateLimitedOptions<
  TEnv extends Env,
  TName extends string = string,
  TPlan extends string = never,
> {
  /** The key of the bucket. @default the result of the `key` of `createRateLimitHono` */
  key?: ((c: Context<TEnv>, name: TName) => KeyAnswer | Promise<KeyAnswer>) | undefined;
  /**
   * The plan of a request, for limits with plans.
   * @default the result of the `plan` of `createRateLimitHono`, or of the limiter's own
   */
  plan?: OrFunction<TEnv, TName, TPlan> | undefined;
  /** Tokens that a request takes: finite and at least 0. @default 1 */
  count?: OrFunction<TEnv, TName, number>;
  /**
   * The requests that cost tokens: every request, every request that succeeds, every request that fails
   * (a status of 400 or more), or every failure for which the function of its context returns true. Every
   * request is charged before its handler runs. Afterwards, the tokens of requests that cost none are
   * given back.
   * @default "call"
   */
  on?: ChargedOn<Context<TEnv>> | undefined;
  /** Fill the bucket when the request succeeds, for example after a log-in. @default false */
  resetOnSuccess?: boolean | undefined;
  /** Your own answer. @default the `respond` of `createRateLimitHono` */
  respond?: HonoRespond<TEnv> | undefined;
}

/** The result that a handler finds at `c.var.rateLimit`. The result is always `ok`. */
export type GrantedOf<TNames> = TNames extends string
  ? Extract<RateLimitResult, { ok: true }>
  : Extract<LimitAllResult, { ok: true }>;

/**
 * Middleware for a route, or for all routes of an app. `names` is one limit, or several limits that are
 * charged all or nothing in one round trip.
 *
 * A denied request is answered by `respond`, or by `rateLimitResponse`: 429, with its header fields and the
 * facts of the denial as JSON. A granted request gets the `RateLimit` fields of the limits that it costs.
 */
export type HonoRateLimited<
  TEnv extends Env,
  TName extends string,
  TPlan extends string = never,
> = <const TNames extends TName | readonly TName[]>(
  names: TNames,
  options?: HonoRateLimitedOptions<TEnv, TName, TPlan>,
) => MiddlewareHandler<TEnv & { Variables: { rateLimit: GrantedOf<TNames> } }>;
