/**
 * Resolves the plan of a limit for one caller, such as the plan of a paying user. The middleware and the
 * router share this resolver, so that a page shows the limit by which its calls are charged.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import {
  checkedPlan,
  planFunctionOf,
  plansOf,
  validatePlan,
} from "../limiter/parts/plan-of-request.js";
import type { LimitConfigs } from "../limiter/types/names.js";

/** The argument of the `plan` function of `createRateLimitTRPC`. */
export interface PlanForCallerOptions<TContext, TName extends string> {
  /** The context of the request. For a stream, the context of its start. */
  ctx: TContext;
  /** The limit that the plan is for, which always has plans. */
  name: TName;
  /**
   * The key of the bucket, as the server resolved it; `undefined` for the bucket that all callers share.
   * Use the key where the plan belongs to the bucket rather than to the caller, such as the plan of a
   * team.
   */
  key: string | undefined;
}

/** Answers with the plan of a caller. The function may also throw a `TRPCError`. */
export type PlanForCaller<TContext, TName extends string, TPlan extends string> = (
  options: PlanForCallerOptions<TContext, TName>,
) => TPlan | Promise<TPlan>;

/**
 * @returns the plan; `undefined` for a limit without plans.
 * @throws RateLimitConfigError for an answer that is no plan of the limiter. An error of the resolver is
 * rethrown.
 */
export type PlanFor = (
  ctx: unknown,
  name: string,
  key: string | undefined,
) => Promise<string | undefined>;

/**
 * @param resolver the `plan` of a router or a handler. Without a resolver, the limiter's own `plan`
 * function is asked. The function is asked here rather than by each call, because a stream has to know
 * when the plan has changed.
 * @param of the function with this option, for messages.
 * @throws RateLimitConfigError where neither a resolver nor the limiter says the plan of limits with
 * plans, and for a resolver where no limit has plans.
 */
export function createPlanFor<TContext, TName extends string, TPlan extends string>(
  resolver: PlanForCaller<TContext, TName, TPlan> | undefined,
  limiter: { readonly limits: LimitConfigs },
  of: string,
): PlanFor {
  if (resolver !== undefined && typeof resolver !== "function") {
    throw new RateLimitConfigError("plan", resolver, "a function");
  }
  const { limits } = limiter;
  validatePlan(of, limiter, Object.keys(limits), resolver);
  const own = planFunctionOf(limiter);

  return async (ctx, name, key) => {
    const plans = plansOf(limits, name);
    if (plans === undefined) return undefined;
    if (resolver === undefined) return own!(name, key);
    const answer = await resolver({ ctx: ctx as TContext, name: name as TName, key });
    // Check the plan here: all watched limits are read together, and one wrong plan would fail all reads.
    return checkedPlan(answer, plans, { name, by: "the plan function" });
  };
}
