/** The options of `createRateLimitHandler`, and their checks. */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { KeyAnswer, SharedBucket } from "../../limiter/types/key-answer.js";
import { namesOf, rejectUnknownOptions } from "../../limiter/types/known-options.js";
import type { RateLimiter } from "../../limiter/types/limiter.js";
import type { LimitConfigs } from "../../limiter/types/names.js";
import type { PlanBy, PlannedName, PlanName } from "../../limiter/types/plan-types.js";
import { checkedLiveOptions, type StreamOptions } from "../live-options.js";

/**
 * Often enough for proxies that end a connection after 30 s without a byte, and for Bun, which ends one
 * after some 10 s, ms.
 */
const DEFAULT_HEARTBEAT = "Bun" in globalThis ? 5000 : 15_000;

/** A client opens a stream anew whose first pings are further apart than 45 s. */
const MAX_HEARTBEAT = 30_000;

/** The caller of a handler. Also the `context` of the decisions of `check` and `limit`. */
export interface HandlerCaller<TContext> {
  /** The request. For a stream, the request of its start. */
  request: Request;
  /** What the option `context` has returned for this request; `undefined` without that option. */
  ctx: TContext;
}

/** The argument of the `key` function of `createRateLimitHandler`. */
export interface HandlerKeyOptions<TContext, TName extends string> extends HandlerCaller<TContext> {
  /** The limit that the key is for. */
  name: TName;
  /**
   * The key that the client asked for. Check it before you return it. If the function ignores the
   * requested key, the request is rejected.
   */
  requested: string | undefined;
}

/** The argument of the `plan` function of `createRateLimitHandler`. */
export interface HandlerPlanOptions<
  TContext,
  TName extends string,
> extends HandlerCaller<TContext> {
  /** The limit that the plan is for, which always has plans. */
  name: TName;
  /** The key of the bucket, as the server resolved it; `undefined` for the bucket that all share. */
  key: string | undefined;
}

/** The argument of the `authorize` function of `createRateLimitHandler`. */
export interface HandlerAuthorizeOptions<
  TContext,
  TName extends string,
> extends HandlerCaller<TContext> {
  /** What the client wants to do. */
  action: "limit" | "reset";
  /** The limit. */
  name: TName;
  /** The key as the server resolved it. */
  key: string | undefined;
}

/** The options of `createRateLimitHandler`. */
export interface RateLimitHandlerOptions<
  TLimits extends LimitConfigs,
  TTransaction,
  TBy extends PlanBy,
  TExposed extends keyof TLimits & string,
  TContext,
  TArgs extends unknown[],
> extends StreamOptions {
  /** The limiter whose limits are read. */
  limiter: RateLimiter<TLimits, TTransaction, TBy>;
  /**
   * Makes the context of a request, once per request, such as the session of its cookie. The further
   * arguments are those of the handler, such as the event of SvelteKit or the `Context` of Hono.
   * @default `ctx` is `undefined`
   */
  context?: (request: Request, ...args: TArgs) => TContext | Promise<TContext>;
  /**
   * The key of a request's bucket, such as the id of the user: the same key by which your code charges
   * the limit. Return `SHARED_BUCKET` for the bucket that all callers share, and `null` to reject the
   * request with 400. A `Response` that the function throws is the answer, such as one with status 401.
   * `SHARED_BUCKET` in place of a function is for all requests.
   */
  key:
    | ((
        options: HandlerKeyOptions<TContext, keyof TLimits & string>,
      ) => KeyAnswer | Promise<KeyAnswer>)
    | SharedBucket;
  /**
   * The plan of this caller. The function is called after `key`, for each limit of a request that has
   * plans.
   * @default what the `plan` function of the limiter says; required where a limiter with plans has no
   * such function
   */
  plan?: (
    options: HandlerPlanOptions<TContext, PlannedName<TLimits>>,
  ) => PlanName<TLimits> | Promise<PlanName<TLimits>>;
  /** The limits that clients may know. Other names are rejected with 400. @default all limits */
  expose?: readonly TExposed[];
  /**
   * Whether a caller may use the actions `limit` and `reset`.
   * @default no caller may
   */
  authorize?: (
    options: HandlerAuthorizeOptions<TContext, keyof TLimits & string>,
  ) => boolean | Promise<boolean>;
  /**
   * ms between two events that keep a stream open through proxies, above 0, at most 30,000. Clients learn
   * this pause, and open a stream anew that has been silent for longer. @default 15000, and 5000 in Bun
   */
  heartbeat?: number;
}

type AnyOptions = RateLimitHandlerOptions<LimitConfigs, unknown, "call", string, unknown, []>;
const OPTIONS = namesOf<AnyOptions>({
  limiter: true,
  context: true,
  key: true,
  plan: true,
  expose: true,
  authorize: true,
  interval: true,
  maxStreams: true,
  keyInterval: true,
  heartbeat: true,
});

/** The options as the checks read them: plain JavaScript can pass any value. */
type Unchecked<TLimits> = Parameters<typeof checkedLiveOptions<TLimits>>[0] & {
  context?: unknown;
  heartbeat?: number;
};

/**
 * Checks all options but `plan`.
 *
 * @throws RateLimitConfigError quoting option and value.
 */
export function checkedHandlerOptions<TLimits>(options: Unchecked<TLimits>) {
  rejectUnknownOptions(options, OPTIONS, "createRateLimitHandler()");
  const { context, heartbeat = DEFAULT_HEARTBEAT } = options;
  if (context !== undefined && typeof context !== "function") {
    throw new RateLimitConfigError("context", context, "a function");
  }
  if (!(heartbeat > 0 && heartbeat <= MAX_HEARTBEAT)) {
    const expected = `a number of ms above 0, at most ${MAX_HEARTBEAT}`;
    throw new RateLimitConfigError("heartbeat", heartbeat, expected);
  }
  return {
    ...checkedLiveOptions(options, "({ request }) => userIdOf(request)"),
    heartbeat,
  };
}
