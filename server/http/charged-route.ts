/**
 * What the middleware of hosts without tRPC share: the options of all routes and of one route, checked, and
 * the items that a request of a route is charged.
 */
import { countOf } from "../../core/count.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { type ChargedOn, type RequestItem, validateCharging } from "../hosts/charge-request.js";
import { planOption, validatePlan } from "../limiter/parts/plan-of-request.js";
import { keyOfAnswer, noKey } from "../limiter/types/key-answer.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { chargedNames, slotsAmong } from "../limiter/types/named-limits.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { validateXRateLimit } from "./x-rate-limit.js";

/** A function of a request, or of the request and one of its limits. */
type OfRequest<TRequest, TValue> = (request: TRequest, name: never) => TValue | Promise<TValue>;

/** The options of all routes. The limits are named by types of the hosts. */
export interface HostOptions<TRequest> {
  limiter: { readonly limits: LimitConfigs } | ((request: TRequest) => unknown);
  key: OfRequest<TRequest, unknown>;
  plan?: OfRequest<TRequest, string> | undefined;
  config?: OfRequest<TRequest, RateLimitConfig | undefined> | undefined;
  respond?: unknown;
  xRateLimit?: "seconds" | "epoch" | undefined;
}

/** The options of one route. */
export interface RouteOptions<TRequest, TFailure> {
  key?: OfRequest<TRequest, unknown> | undefined;
  plan?: string | OfRequest<TRequest, string> | undefined;
  count?: number | OfRequest<TRequest, number>;
  on?: ChargedOn<TFailure> | undefined;
  resetOnSuccess?: boolean | undefined;
  respond?: unknown;
}

const HOST_OPTIONS = namesOf<HostOptions<never>>({
  limiter: true,
  key: true,
  plan: true,
  config: true,
  respond: true,
  xRateLimit: true,
});
const ROUTE_OPTIONS = namesOf<RouteOptions<never, never>>({
  key: true,
  plan: true,
  count: true,
  on: true,
  resetOnSuccess: true,
  respond: true,
});

/**
 * @param of the function that has the options, such as `createRateLimitHono()`.
 * @throws RateLimitConfigError for an option that does not exist or makes no sense.
 */
export function checkHostOptions<TRequest>(of: string, options: HostOptions<TRequest>): void {
  rejectUnknownOptions(options, HOST_OPTIONS, of);
  const { limiter, key, plan, config, respond } = options;
  for (const [option, value] of Object.entries({ key, plan, config, respond })) {
    if (typeof value !== "function" && !(option !== "key" && value === undefined)) {
      throw new RateLimitConfigError(option, value, "a function of the request");
    }
  }
  validateXRateLimit(options);
  if (plan !== undefined && typeof limiter !== "function") {
    validatePlan(of, limiter, Object.keys(limiter.limits), plan);
  }
}

/**
 * Checks the arguments of `rateLimited`. Returns a function that returns the items that a request is
 * charged.
 */
export function readRoute<TRequest, TFailure>(
  { limiter, key, plan, config }: HostOptions<TRequest>,
  names: string | readonly string[],
  charging: RouteOptions<TRequest, TFailure>,
): (request: TRequest, own: UntypedRateLimiter) => Promise<RequestItem<TFailure>[]> {
  const limits = typeof limiter === "function" ? undefined : limiter.limits;
  const all = chargedNames(names, limits);
  if (limits !== undefined) refuseSlots(slotsAmong(all, limits));
  rejectUnknownOptions(charging, ROUTE_OPTIONS, "rateLimited()");
  validateCharging("rateLimited()", charging);
  const { on = "call", resetOnSuccess = false, count, key: ownKey = key, plan: ownPlan } = charging;
  const { respond } = charging;
  if (respond !== undefined && typeof respond !== "function") {
    throw new RateLimitConfigError("rateLimited().respond", respond, "a function of the request");
  }
  if (typeof count !== "function") countOf(charging as { count?: number });
  if (typeof limiter !== "function" && (ownPlan ?? plan ?? config) === ownPlan) {
    validatePlan("rateLimited()", limiter, all, ownPlan);
  }
  const sayPlan = (request: TRequest, name: never) => {
    if (ownPlan === undefined) return plan && (() => plan(request, name));
    return () => (typeof ownPlan === "function" ? ownPlan(request, name) : ownPlan);
  };

  return (request, own) =>
    Promise.all(
      all.map(async (each) => {
        const name = each as never;
        const of = { name: each, key: keyOf(await ownKey(request, name), each) };
        const given = await config?.(request, name);
        return {
          ...of,
          ...(given === undefined && (await planOption(own, of, sayPlan(request, name)))),
          ...("count" in charging && {
            count: typeof count === "function" ? await count(request, name) : count!,
          }),
          config: given,
          on,
          resetOnSuccess,
        };
      }),
    );
}

function refuseSlots(slots: string | undefined): void {
  if (slots === undefined) return;
  const message =
    `rateLimited() cannot hold a slot of ${describe(slots)} to the end of a response; ` +
    "use limiter.enter() in the handler";
  throw new RateLimitConfigError("names", slots, { message });
}

function keyOf(answer: unknown, name: string): string | undefined {
  return keyOfAnswer(answer, () => {
    if (answer === null) return noKey(name);
    const message =
      `rate limit ${describe(name)} has no key: its function returned ${describe(answer)}; return the ` +
      "key, null to refuse the request, or SHARED_BUCKET for the bucket that all callers share";
    return new RateLimitInputError("key", message);
  });
}
