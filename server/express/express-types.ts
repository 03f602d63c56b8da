/**
 * The types of the middleware that `createRateLimitExpress` returns as `rateLimited`. The types of Express
 * are described by structure, so that an application needs no types of Express that it does not have.
 */
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { ChargedOn, ChargingLimiter } from "../hosts/charge-request.js";
import type { RateLimitRefusal } from "../hosts/refusal.js";
import type { RateLimitHeadersOptions } from "../http/x-rate-limit.js";
import type { KeyAnswer } from "../limiter/types/key-answer.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { PlannedName, PlanName } from "../limiter/types/plan-types.js";

/** The parts of a request of Express 4 and 5 that a function finds where it does not say a type. */
export interface ExpressRequest {
  /** The method, such as `POST`. */
  readonly method: string;
  /** The path and the query, as the client has sent them, or below a router's own path. */
  readonly url: string;
  /** The path of the request, without its query. */
  readonly path: string;
  /** The address of the client, as the setting `trust proxy` says. */
  readonly ip?: string | undefined;
  /** The header fields, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** A header field. */
  get(name: string): string | undefined;
}

/** The parts of a response of Express 4 and 5 that are used here. */
export interface ExpressResponse {
  /** The status that is sent. */
  statusCode: number;
  /** What the middleware tells handlers: `res.locals.rateLimit`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- Express has this type
  readonly locals: Record<string, any>;
  /** The value of a header field, if it has been set. */
  getHeader(name: string): unknown;
  /** Sets a header field. */
  setHeader(name: string, value: string): unknown;
  /** Sends the body. */
  end(body: string): unknown;
  /** Listens for the end of the answer. */
  once(event: "finish", listener: () => void): unknown;
}

/** Middleware of Express: a `RequestHandler`. */
export type ExpressMiddleware<TRequest, TResponse> = (
  req: TRequest,
  res: TResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Answers a request that is not let through, in place of `rateLimitResponse`. Errors of the function reach
 * the error handlers of the application: `throw refusal.error` hands the denial on to them.
 *
 * @param refusal why, with the error: `reason` is `"denied"`, `"no key"`, `"invalid input"` or
 * `"store failure"`.
 * @param response the answer that the request gets otherwise, with its status, header fields and JSON.
 */
export type ExpressRespond<TRequest, TResponse> = (
  req: TRequest,
  res: TResponse,
  refusal: RateLimitRefusal,
  response: Response,
) => void | Promise<void>;

type OrFunction<TRequest, TName extends string, TValue> =
  TValue | ((req: TRequest, name: TName) => TValue | Promise<TValue>);

/** The options of `createRateLimitExpress`. */
export interface RateLimitExpressOptions<
  TRequest,
  TResponse,
  TLimits extends LimitConfigs,
> extends RateLimitHeadersOptions {
  /** The limiter, or a function of the request. */
  limiter: ChargingLimiter<TLimits> | ((req: TRequest) => ChargingLimiter<TLimits>);
  /**
   * The key of a request's bucket. Return `SHARED_BUCKET` for the bucket that all callers share, and
   * `null` to refuse the request: with 400, or as `respond` answers `"no key"`. Declare the type of `req`
   * for what your own middleware adds: `(req: Request) => …`.
   */
  key: (req: TRequest, name: keyof TLimits & string) => KeyAnswer | Promise<KeyAnswer>;
  /**
   * The plan of this caller, such as the plan of a paying user. Called for limits with plans alone. An
   * answer that is no plan of the limiter is an error of the server.
   * @default what the `plan` function of the limiter says
   */
  plan?:
    | ((
        req: TRequest,
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
        req: TRequest,
        name: keyof TLimits & string,
      ) => RateLimitConfig | undefined | Promise<RateLimitConfig | undefined>)
    | undefined;
  /** Your own answer to requests that are not let through. @default `rateLimitResponse` */
  respond?: ExpressRespond<TRequest, TResponse> | undefined;
}

/** The tokens that a request is charged, and the bucket. */
export interface ExpressRateLimitedOptions<
  TRequest,
  TResponse,
  TName extends string = string,
  TPlan extends string = never,
> {
  /** The key of the bucket. @default the result of the `key` of `createRateLimitExpress` */
  key?: ((req: TRequest, name: TName) => KeyAnswer | Promise<KeyAnswer>) | undefined;
  /**
   * The plan of a request, for limits with plans.
   * @default the result of the `plan` of `createRateLimitExpress`, or of the limiter's own
   */
  plan?: OrFunction<TRequest, TName, TPlan> | undefined;
  /** Tokens that a request takes: finite and at least 0. @default 1 */
  count?: OrFunction<TRequest, TName, number>;
  /**
   * The requests that cost tokens: every request, every request that succeeds, every request that fails
   * (a status of 400 or more), or every failure for which the function of its response returns true. Every
   * request is charged before its handler runs. Once it is answered, the tokens of requests that cost none
   * are given back. A request whose client has left before the end of its answer stays charged.
   * @default "call"
   */
  on?: ChargedOn<TResponse> | undefined;
  /** Fill the bucket when the request succeeds, for example after a log-in. @default false */
  resetOnSuccess?: boolean | undefined;
  /** Your own answer. @default the `respond` of `createRateLimitExpress` */
  respond?: ExpressRespond<TRequest, TResponse> | undefined;
}

/**
 * Middleware for a route, or for all routes of an app. `names` is one limit, or several limits that are
 * charged all or nothing in one round trip.
 *
 * A denied request is answered by `respond`, or by `rateLimitResponse`: 429, with its header fields and the
 * facts of the denial as JSON. A granted request gets the `RateLimit` fields of the limits that every
 * request costs (`on: "call"`): the fields are sent before it is known whether the request costs others. Its
 * handlers find the decision at `res.locals.rateLimit`. Every other error reaches the error handlers of the
 * application.
 */
export type ExpressRateLimited<
  TRequest,
  TResponse,
  TName extends string,
  TPlan extends string = never,
> = (
  names: TName | readonly TName[],
  options?: ExpressRateLimitedOptions<TRequest, TResponse, TName, TPlan>,
) => ExpressMiddleware<TRequest, TResponse>;
