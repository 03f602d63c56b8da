/** Binds a limiter to an application's tRPC: the middleware for its procedures, and the router. */
import type { TRPCRootObject, TRPCRuntimeConfigOptions } from "@trpc/server";
import { RateLimitConfigError } from "../../core/errors.js";
import type { LimitConfigs, RateLimiter } from "../limiter-types.js";
import type { KeyResolver } from "./resolve-key.js";
import { createRateLimited } from "./rate-limited.js";
import { type AuthorizeOptions, createRateLimitRouter } from "./router.js";

/** How often `watch` reads the changes of other processes, ms. */
const DEFAULT_INTERVAL = 1000;

export interface RateLimitTRPCOptions<
  TContext extends object,
  TMeta extends object,
  TOptions extends TRPCRuntimeConfigOptions<TContext, TMeta>,
  TLimits extends LimitConfigs,
  TTransaction,
> {
  /** The result of `initTRPC.….create()`. */
  t: TRPCRootObject<TContext, TMeta, TOptions>;
  limiter: RateLimiter<TLimits, TTransaction>;
  /**
   * The key of a request's bucket. Return `SHARED_BUCKET` for the bucket that all callers share,
   * and `null` to reject the request.
   * @default () => SHARED_BUCKET
   */
  key?: KeyResolver<TContext, keyof TLimits & string>;
  /**
   * Whether a caller may use the router's `limit` and `reset`.
   * @default no caller may
   */
  authorize?: (
    options: AuthorizeOptions<TContext, keyof TLimits & string>,
  ) => boolean | Promise<boolean>;
  /** ms between two reads by `watch` for the changes of other processes, above 0. @default 1000 */
  interval?: number;
}

/**
 * @throws RateLimitConfigError when the limiter has no named limits, or `interval` is not above 0.
 */
export function createRateLimitTRPC<
  TContext extends object,
  TMeta extends object,
  TOptions extends TRPCRuntimeConfigOptions<TContext, TMeta>,
  TLimits extends LimitConfigs,
  TTransaction,
>(options: RateLimitTRPCOptions<TContext, TMeta, TOptions, TLimits, TTransaction>) {
  type TName = keyof TLimits & string;
  const { t, limiter, key: resolver, authorize, interval = DEFAULT_INTERVAL } = options;
  const names = Object.keys(limiter.limits) as TName[];
  if (names.length === 0) {
    const message = "the limiter has no limits; name at least one in createRateLimiter({ limits })";
    throw new RateLimitConfigError("limits", limiter.limits, { message });
  }
  if (!(interval > 0)) {
    throw new RateLimitConfigError("interval", interval, "a number of ms above 0");
  }
  return {
    rateLimited: createRateLimited<TContext, TMeta, TName, TTransaction>(limiter, resolver),
    router: createRateLimitRouter<TContext, TMeta, TName>(t as never, {
      limiter,
      names,
      resolver,
      authorize,
      interval,
    }),
  };
}
