/** Binds a limiter to an application of Hono: middleware that charges its routes. */
import type { Context, Env, Next } from "hono";
import { describe, RateLimitConfigError } from "../../core/errors.js";
import {
  chargeRequest,
  type ChargedRequest,
  type RequestItem,
  settleRequest,
} from "../hosts/charge-request.js";
import { refusalOf } from "../hosts/refusal.js";
import { checkHostOptions, type HostOptions, readRoute } from "../http/charged-route.js";
import { rateLimitResponse } from "../http/rate-limit-response.js";
import { headersOfRequest } from "../http/request-headers.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import type { PlanName } from "../limiter/types/plan-types.js";
import type { HonoRateLimited, HonoRespond, RateLimitHonoOptions } from "./hono-types.js";

/** How a request is answered, beside its own handler. */
interface Answering<TEnv extends Env> {
  respond: HonoRespond<TEnv> | undefined;
  xRateLimit: "seconds" | "epoch" | undefined;
}

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
  checkHostOptions("createRateLimitHono()", options as HostOptions<Context<TEnv>>);
  // A copy, because the caller may change the object later.
  const { limiter, respond, xRateLimit, ...asked } = options;
  const host = { limiter, ...asked } as HostOptions<Context<TEnv>>;
  return {
    rateLimited(names, charging = {}) {
      const itemsOf = readRoute(host, names, charging);
      const answering = { respond: charging.respond ?? respond, xRateLimit };
      return async (context, next) => {
        // The middleware adds a variable to the context. The functions of the options read the
        // application's variables.
        const c = context as unknown as Context<TEnv>;
        const given = typeof limiter === "function" ? limiter(c) : limiter;
        const own = given as unknown as UntypedRateLimiter;
        return charge(own, c, next, () => itemsOf(c, own), answering);
      };
    },
  };
}

/** Answers a request that is denied. Settles a request that is let through after its handler. */
async function charge<TEnv extends Env>(
  own: UntypedRateLimiter,
  c: Context<TEnv>,
  next: Next,
  toItems: () => Promise<RequestItem<Context<TEnv>>[]>,
  answering: Answering<TEnv>,
): Promise<Response | undefined> {
  let charged: ChargedRequest<Context<TEnv>>;
  try {
    charged = await chargeRequest(own, await toItems(), c);
  } catch (error) {
    return refuse(c, error as Error, answering);
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
  const isShown = (_: unknown, i: number) => costs[i] === true;
  addHeaders(c, headersOfRequest(own, charged, isShown, answering));
  return undefined;
}

/** @throws the error itself where the client has not caused it. */
async function refuse<TEnv extends Env>(
  c: Context<TEnv>,
  error: Error,
  { respond, xRateLimit }: Answering<TEnv>,
): Promise<Response> {
  const response = rateLimitResponse(error, { xRateLimit });
  const refusal = refusalOf(error);
  if (respond === undefined || refusal === undefined) return response;
  const answer: Response | undefined = await respond(c, refusal, response);
  if (answer !== undefined) return answer;
  const message = `respond must return a Response, got ${describe(answer)}`;
  throw new RateLimitConfigError("respond", answer, { message });
}

/**
 * The `RateLimit` fields of other middleware stay, because these fields are lists. An `X-RateLimit` field
 * has room for one limit, which is that of the route.
 */
function addHeaders<TEnv extends Env>(c: Context<TEnv>, fields: Record<string, string>): void {
  const hasX = c.res.headers.has("X-RateLimit-Limit");
  for (const [field, value] of Object.entries(fields)) {
    const isX = field.startsWith("X-");
    if (!isX || !hasX) c.header(field, value, { append: !isX });
  }
}
