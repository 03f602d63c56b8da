/** Binds a limiter to an application's tRPC: the middleware for its procedures, and the router. */
import type { TRPCRootObject, TRPCRuntimeConfigOptions } from "@trpc/server";
import { RateLimitConfigError } from "../../core/errors.js";
import type { LimitConfigs, RateLimiter, UntypedRateLimiter } from "../limiter-types.js";
import type { KeyResolver } from "./key.js";
import { type Call, charge, chargeInTransaction, type Charging } from "./charge.js";
import type { ChargeOnErrorOptions, RateLimited, RateLimitedOptions } from "./rate-limited.js";
import { type AuthorizeOptions, createRateLimitRouter } from "./router.js";

/** How often other processes' changes are looked for, ms. */
const DEFAULT_INTERVAL = 1000;

export interface RateLimitTRPCOptions<
  TContext extends object,
  TMeta extends object,
  TOptions extends TRPCRuntimeConfigOptions<TContext, TMeta>,
  TLimits extends LimitConfigs,
  TTransaction,
> {
  /** What `initTRPC.….create()` returned. */
  t: TRPCRootObject<TContext, TMeta, TOptions>;
  limiter: RateLimiter<TLimits, TTransaction>;
  /**
   * Whose bucket a request is about. Return `null` to refuse.
   * @default the bucket that all share
   */
  key?: KeyResolver<TContext, keyof TLimits & string>;
  /**
   * Who may call the router's `limit` and `reset`.
   * @default nobody
   */
  authorize?: (
    options: AuthorizeOptions<TContext, keyof TLimits & string>,
  ) => boolean | Promise<boolean>;
  /** ms between two looks of `watch` for the changes of other processes, above 0. @default 1000 */
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
  const { t, key: resolver, authorize, interval = DEFAULT_INTERVAL } = options;
  const limiter = options.limiter as unknown as UntypedRateLimiter;
  const names = Object.keys(limiter.limits) as TName[];
  if (names.length === 0) {
    throw new RateLimitConfigError("limits", limiter.limits, "an object with at least one limit");
  }
  if (!(interval > 0)) {
    throw new RateLimitConfigError("interval", interval, "a number of ms above 0");
  }

  type Chargeable = TName | readonly TName[];
  type Options = RateLimitedOptions<never, never>;
  const charging = (charged: Chargeable, chosen: Options | undefined): Charging => {
    if (charged.length === 0) {
      throw new RateLimitConfigError("rateLimited's names", charged, "at least one limit");
    }
    return { limiter, resolver, names: charged, options: chosen ?? {} } as Charging;
  };
  // What a middleware does is the same for every application; its types are the interface's doing.
  const rateLimited = Object.assign(
    (charged: Chargeable, chosen?: Options & ChargeOnErrorOptions) => {
      const made = charging(charged, chosen);
      return (call: Call) => charge(made, chosen ?? {}, call);
    },
    {
      transaction(charged: Chargeable, chosen?: Options) {
        const made = charging(charged, chosen);
        return (call: Call) => chargeInTransaction(made, call);
      },
    },
  ) as unknown as RateLimited<TContext, TMeta, TName, TTransaction>;

  const router = createRateLimitRouter<TContext, TMeta, TName>(t as never, {
    limiter,
    names,
    resolver,
    authorize,
    interval,
  });
  return { rateLimited, router };
}
