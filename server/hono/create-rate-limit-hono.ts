/** Binds a limiter to an application of Hono: middleware that charges its routes. */
import type { Context, Env, Next } from "hono";
import { countOf } from "../../core/count.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import {
  chargeRequest,
  type ChargedRequest,
  type RequestItem,
  settleRequest,
  validateCharging,
} from "../hosts/charge-request.js";
import { planOption, validatePlan } from "../limiter/parts/plan-of-request.js";
import { rateLimitHeaders } from "../http/rate-limit-headers.js";
import { rateLimitResponse } from "../http/rate-limit-response.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { chargedNames, slotsAmong } from "../limiter/types/named-limits.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { keyOfAnswer } from "../limiter/types/key-answer.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import type { PlannedName, PlanName } from "../limiter/types/plan-types.js";
import type {
  HonoRateLimited,
  HonoRateLimitedOptions,
  RateLimitHonoOptions,
} from "./hono-types.js";

const OPTIONS = namesOf<RateLimitHonoOptions<Env, LimitConfigs>>({
  limiter: true,
  key: true,
  plan: true,
  config: true,
});
const CALL_OPTIONS = namesOf<HonoRateLimitedOptions<Env>>({
  key: true,
  plan: true,
  count: true,
  on: true,
  resetOnSuccess: true,
});

/**
 * `rateLimited("sendMessage")` is middleware of Hono; see `HonoRateLimited`.
 *
 * @throws RateLimitConfigError for an option that does not exist or makes no sense. `rateLimited` throws
 * this error, too, also for a name that the limiter does not have. With a limiter per request, names are
 * only checked when a request comes.
 *
 * @example
 * import { Hono } from "hono";
 * import { createRateLimitHono } from "trpc-rate-limit/hono";
 * import { ipKey } from "trpc-rate-limit/server";
 *
 * const { rateLimited } = createRateLimitHono({
 *   limiter,
 *   // The header that your proxy writes, and no visitor
 *   key: (c) => ipKey(c.req.header("x-real-ip")),
 * });
 * const app = new Hono();
 * app.post("/messages", rateLimited("sendMessage"), (c) => c.json({ sent: true }));
 */
export function createRateLimitHono<TLimits extends LimitConfigs, TEnv extends Env = Env>(
  options: RateLimitHonoOptions<TEnv, TLimits>,
): { rateLimited: HonoRateLimited<TEnv, keyof TLimits & string, PlanName<TLimits>> } {
  const checked = checkedOptions(options);
  const { limiter } = checked;
  return {
    rateLimited(names, charging = {}) {
      const itemsOf = readRoute(checked, names, charging);
      return async (context, next) => {
        // The middleware adds a variable to the context. The functions of the options read the
        // application's variables.
        const c = context as unknown as Context<TEnv>;
        const given = typeof limiter === "function" ? limiter(c) : limiter;
        const own = given as unknown as UntypedRateLimiter;
        return charge(own, c, next, () => itemsOf(c, own));
      };
    },
  };
}

function checkedOptions<TEnv extends Env, TLimits extends LimitConfigs>(
  options: RateLimitHonoOptions<TEnv, TLimits>,
): RateLimitHonoOptions<TEnv, TLimits> {
  rejectUnknownOptions(options, OPTIONS, "createRateLimitHono()");
  const { limiter, key, plan, config } = options;
  for (const [option, value] of Object.entries({ key, plan, config })) {
    if (typeof value !== "function" && !(option !== "key" && value === undefined)) {
      throw new RateLimitConfigError(option, value, "a function of the request's context");
    }
  }
  if (plan !== undefined && typeof limiter !== "function") {
    validatePlan("createRateLimitHono()", limiter, Object.keys(limiter.limits), plan);
  }
  return { limiter, key, plan, config };
}

/** Checks the arguments of `rateLimited`, and returns the items that a request is charged. */
function readRoute<TEnv extends Env, TLimits extends LimitConfigs>(
  { limiter, key, plan, config }: RateLimitHonoOptions<TEnv, TLimits>,
  names: string | readonly string[],
  charging: HonoRateLimitedOptions<TEnv, keyof TLimits & string, PlanName<TLimits>>,
) {
  type TName = keyof TLimits & string;
  const limits = typeof limiter === "function" ? undefined : limiter.limits;
  const all = chargedNames(names, limits);
  if (limits !== undefined) refuseSlots(slotsAmong(all, limits));
  rejectUnknownOptions(charging, CALL_OPTIONS, "rateLimited()");
  validateCharging("rateLimited()", charging);
  const { on = "call", resetOnSuccess = false, count, key: ownKey = key, plan: ownPlan } = charging;
  if (typeof count !== "function") countOf(charging as { count?: number });
  if (typeof limiter !== "function" && (ownPlan ?? plan ?? config) === ownPlan) {
    validatePlan("rateLimited()", limiter, all, ownPlan);
  }
  const sayPlan = (c: Context<TEnv>, name: TName) => {
    if (ownPlan === undefined) return plan && (() => plan(c, name as PlannedName<TLimits>));
    return () => (typeof ownPlan === "function" ? ownPlan(c, name) : ownPlan);
  };

  return (c: Context<TEnv>, own: UntypedRateLimiter) =>
    Promise.all(
      (all as readonly TName[]).map(async (name) => {
        const of = { name, key: keyOf(await ownKey(c, name), name) };
        const given = await config?.(c, name);
        return {
          ...of,
          ...(given === undefined && (await planOption(own, of, sayPlan(c, name)))),
          ...("count" in charging && {
            count: typeof count === "function" ? await count(c, name) : count!,
          }),
          config: given,
          on,
          resetOnSuccess,
        };
      }),
    );
}

/** Answers a request that is denied. Settles a request that is let through after its handler. */
async function charge<TEnv extends Env>(
  own: UntypedRateLimiter,
  c: Context<TEnv>,
  next: Next,
  toItems: () => Promise<RequestItem<Context<TEnv>>[]>,
): Promise<Response | undefined> {
  let charged: ChargedRequest<Context<TEnv>>;
  try {
    charged = await chargeRequest(own, await toItems());
  } catch (error) {
    return rateLimitResponse(error as Error);
  }
  c.set("rateLimit" as never, charged.granted as never);
  try {
    await next();
  } catch (error) {
    await settleRequest(own, charged, c);
    throw error;
  }
  const failed = c.error !== undefined || c.res.status >= 400;
  const costs = await settleRequest(own, charged, failed ? c : undefined);
  addHeaders(c, own, charged, costs);
  return undefined;
}

/** Adds the header fields of the limits that the request costs. The fields of other middleware stay. */
function addHeaders<TEnv extends Env>(
  c: Context<TEnv>,
  limiter: UntypedRateLimiter,
  { items, results }: ChargedRequest<Context<TEnv>>,
  costs: readonly boolean[],
): void {
  for (const [i, { name, key, plan, config }] of items.entries()) {
    if (!costs[i]) continue;
    const about = { limiter: limiter as never, name, key, plan: plan as never, config };
    for (const [field, value] of Object.entries(rateLimitHeaders(results[i]!, about))) {
      c.header(field, value, { append: true });
    }
  }
}

/** The middleware does not see the end of a body that is streamed. */
function refuseSlots(slots: string | undefined): void {
  if (slots === undefined) return;
  const message =
    `rateLimited() cannot hold a slot of ${describe(slots)} to the end of a response; ` +
    "use limiter.enter() in the handler";
  throw new RateLimitConfigError("names", slots, { message });
}

function keyOf(answer: unknown, name: string): string | undefined {
  return keyOfAnswer(answer, () => {
    const problem =
      answer === null
        ? "no key for this caller"
        : `no key: its function returned ${describe(answer)}; return the key, null to refuse the ` +
          "request, or SHARED_BUCKET for the bucket that all callers share";
    return new RateLimitInputError("key", `rate limit ${describe(name)} has ${problem}`);
  });
}
