/** Binds a limiter to an application of Express: middleware that charges its routes. */
import { chargeRequest, type ChargedRequest, settleRequest } from "../hosts/charge-request.js";
import { refusalOf } from "../hosts/refusal.js";
import { checkHostOptions, type HostOptions, readRoute } from "../http/charged-route.js";
import { rateLimitResponse } from "../http/rate-limit-response.js";
import { headersOfRequest } from "../http/request-headers.js";
import type { RateLimitHeadersOptions } from "../http/x-rate-limit.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { PlanName } from "../limiter/types/plan-types.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import type {
  ExpressRateLimited,
  ExpressRequest,
  ExpressRespond,
  ExpressResponse,
  RateLimitExpressOptions,
} from "./express-types.js";

/**
 * `rateLimited("sendMessage")` is middleware of Express 4 and 5; see `ExpressRateLimited`.
 *
 * @throws RateLimitConfigError for an option that does not exist or makes no sense. `rateLimited` throws
 * this error, too, also for a name that the limiter does not have. With a limiter per request, names are
 * only checked when a request comes.
 *
 * @example
 * import express from "express";
 * import { createRateLimitExpress } from "trpc-rate-limit/express";
 * import { ipKey } from "trpc-rate-limit/server";
 *
 * const { rateLimited } = createRateLimitExpress({ limiter, key: (req) => ipKey(req.ip) });
 * const app = express();
 * app.post("/messages", rateLimited("sendMessage"), (_req, res) => {
 *   res.json({ sent: true });
 * });
 */
export function createRateLimitExpress<
  TLimits extends LimitConfigs,
  TRequest extends ExpressRequest = ExpressRequest,
  TResponse extends ExpressResponse = ExpressResponse,
>(
  options: RateLimitExpressOptions<TRequest, TResponse, TLimits>,
): {
  /** Middleware that charges limits; see `ExpressRateLimited`. */
  rateLimited: ExpressRateLimited<TRequest, TResponse, keyof TLimits & string, PlanName<TLimits>>;
} {
  checkHostOptions("createRateLimitExpress()", options as HostOptions<TRequest>);
  // A copy, because the caller may change the object later.
  const { limiter, respond, xRateLimit, ...asked } = options;
  const host = { limiter, ...asked } as HostOptions<TRequest>;
  return {
    rateLimited(names, charging = {}) {
      const itemsOf = readRoute<TRequest, TResponse>(host, names, charging);
      const answer = charging.respond ?? respond;

      async function pass(req: TRequest, res: TResponse): Promise<boolean> {
        const given = typeof limiter === "function" ? limiter(req) : limiter;
        const own = given as unknown as UntypedRateLimiter;
        let charged: ChargedRequest<TResponse>;
        try {
          charged = await chargeRequest(own, await itemsOf(req, own), req);
        } catch (error) {
          await refuse(req, res, error as Error, answer, { xRateLimit });
          return false;
        }
        res.locals["rateLimit"] = charged.granted;
        addHeaders(res, headersOfRequest(own, charged, isFixed, { xRateLimit }));
        settleOnceAnswered(own, charged, res);
        return true;
      }

      // Express 4 does not hear of a promise that rejects.
      return (req, res, next) =>
        void pass(req, res).then((isPassed) => {
          if (isPassed) next();
        }, next);
    },
  };
}

/**
 * Whether every request costs the tokens of an item. Only such an item has header fields: Express sends
 * them before the answer tells whether a request costs tokens. Rejected: to add them in a replaced
 * `writeHead`. Where two middlewares replace it, the first one's `X-RateLimit` fields win.
 */
function isFixed({ on, resetOnSuccess }: ChargedRequest<never>["items"][number]): boolean {
  return on === "call" && !resetOnSuccess;
}

/**
 * Answers a request that is not let through.
 *
 * @throws the error itself where the client has not caused it.
 */
async function refuse<TRequest, TResponse extends ExpressResponse>(
  req: TRequest,
  res: TResponse,
  error: Error,
  respond: ExpressRespond<TRequest, TResponse> | undefined,
  options: RateLimitHeadersOptions,
): Promise<void> {
  const response = rateLimitResponse(error, options);
  const refusal = refusalOf(error);
  if (respond !== undefined && refusal !== undefined) {
    return respond(req, res, refusal, response);
  }
  res.statusCode = response.status;
  for (const [field, value] of response.headers) res.setHeader(field, value);
  res.end(await response.text());
}

/**
 * The `RateLimit` fields of other middleware stay, because these fields are lists. An `X-RateLimit` field
 * has room for one limit: that of the route, whose middleware comes last.
 */
function addHeaders(res: ExpressResponse, fields: Record<string, string>): void {
  for (const [field, value] of Object.entries(fields)) {
    const other = field.startsWith("X-") ? undefined : res.getHeader(field);
    res.setHeader(field, typeof other === "string" ? `${other}, ${value}` : value);
  }
}

/** Gives back the tokens that a request does not cost, once its answer has been sent. */
function settleOnceAnswered<TResponse extends ExpressResponse>(
  limiter: UntypedRateLimiter,
  charged: ChargedRequest<TResponse>,
  res: TResponse,
): void {
  if (charged.items.every(isFixed)) return;
  // Not `close`: a client that leaves early must not get its tokens back.
  res.once("finish", () => {
    const failure = res.statusCode >= 400 ? res : undefined;
    settleRequest(limiter, charged, failure).catch((error: unknown) => {
      console.error(
        "trpc-rate-limit: the option `on` of rateLimited() has thrown, so the tokens of the request stay taken",
        error,
      );
    });
  });
}
