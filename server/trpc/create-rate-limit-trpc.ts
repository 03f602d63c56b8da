/** Binds a limiter to an application's tRPC: the middleware for its procedures, and the router. */
import { SHARED_BUCKET } from "../limiter/types/key-answer.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { PlanBy, PlannedName, PlanName } from "../limiter/types/plan-types.js";
import type { LiveLimitsOptions } from "../live/live-limits.js";
import { createAdminRouter } from "./admin/admin-router.js";
import type { RateLimitAdminRouter } from "./admin/router-types.js";
import type { SaysPlanOfRequest } from "../live/live-options.js";
import { createPlanFor, type PlanForCaller } from "../live/plan-for-caller.js";
import { createRateLimited } from "./rate-limited.js";
import type { RateLimited } from "./rate-limited-types.js";
import { createRateLimitRouter } from "./router.js";
import type { RateLimitRouter } from "./router-types.js";
import { checkedOptions, type RateLimitTRPCOptions } from "./trpc-options.js";

/**
 * Binds a limiter to the tRPC of an application: middleware that charges its procedures, and a
 * router through which its clients read limits.
 *
 * @throws RateLimitConfigError when the limiter has no named limits, when neither an option nor the
 * limiter says the plan of limits with plans, and for an option that is unknown or out of its bounds.
 *
 * @example
 * import { initTRPC } from "@trpc/server";
 * import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
 *
 * const t = initTRPC.context<{ userId: string }>().create({
 *   errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
 * });
 * const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
 *
 * const appRouter = t.router({
 *   rateLimit: rl.router,
 *   send: t.procedure.use(rl.rateLimited("sendMessage")).mutation(() => send()),
 * });
 */
export function createRateLimitTRPC<
  TContext extends object,
  TMeta extends object,
  TLimits extends LimitConfigs,
  TTransaction,
  TExposed extends keyof TLimits & string = keyof TLimits & string,
  TBy extends PlanBy = "call",
>(
  options: RateLimitTRPCOptions<TContext, TMeta, TLimits, TTransaction, TExposed, TBy> &
    SaysPlanOfRequest<
      TLimits,
      TBy,
      PlanForCaller<TContext, PlannedName<TLimits>, PlanName<TLimits>>
    >,
): {
  /** Middleware that charges limits; see `RateLimited`. */
  rateLimited: RateLimited<
    TContext,
    TMeta,
    keyof TLimits & string,
    TTransaction,
    PlanName<TLimits>
  >;
  /** The router through which clients read limits. Mount it as `rateLimit`. */
  router: RateLimitRouter<TContext, TMeta, TExposed>;
  /**
   * The router for operators: shows which keys are limited, and changes limits of keys. The router has
   * all limits, not only the limits of `expose`. Mount it as `rateLimitAdmin`. Every procedure is
   * `FORBIDDEN`, unless the option `admin` allows it. The router is made when this property is first
   * read.
   */
  readonly admin: RateLimitAdminRouter<TContext, TMeta, keyof TLimits & string>;
} {
  type TName = keyof TLimits & string;
  const { names, exposed, ...ofStreams } = checkedOptions(options);
  const { t, limiter, key, plan, authorize, admin } = options;
  const resolver = typeof key === "function" ? key : () => SHARED_BUCKET;
  // The names of the limits are only known to its user.
  const untyped = limiter as unknown as LiveLimitsOptions<TContext, TExposed>["limiter"];
  const planFor = createPlanFor(plan, limiter, "createRateLimitTRPC()");
  let adminRouter: RateLimitAdminRouter<TContext, TMeta, TName> | undefined;
  return {
    rateLimited: createRateLimited<TContext, TMeta, TName, TTransaction, PlanName<TLimits>>(
      untyped,
      resolver,
      planFor,
      exposed,
    ),
    router: createRateLimitRouter<TContext, TMeta, TExposed>(t as never, {
      limiter: untyped,
      names: exposed as readonly TExposed[],
      resolver,
      planFor,
      authorize,
      ...ofStreams,
    }),
    get admin() {
      return (adminRouter ??= createAdminRouter<TContext, TMeta, TName>(t as never, {
        limiter,
        names,
        admin,
      }));
    },
  };
}
