/** The header fields of one decision, for responses that are not tRPC's. */
import type { RateLimitResult } from "../../core/decide.js";
import {
  isRateLimitError,
  type RateLimitErrorData,
  RateLimitInputError,
} from "../../core/errors.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import {
  factsOfDenial,
  limitFields,
  type LimitFacts,
  longestOf,
  waitField,
} from "./header-fields.js";
import { type RateLimitHeadersOptions, xFields } from "./x-rate-limit.js";
import { factsOf, isResult, type LimitOfResult } from "./limit-of-result.js";

/**
 * Header fields about a decision, as a plain object for `Response`, Hono's `c.json`, Express's
 * `res.set` or Fastify's `reply.headers`:
 *
 * - `RateLimit-Policy`: `q` tokens in `w` seconds;
 * - `RateLimit`: `r` whole tokens left, and `t` seconds until the denied call would pass, or else
 *   until the limit is full again or its window ends;
 * - `Retry-After`: for a denial, whole seconds, rounded up. The field is missing where no wait helps, as
 *   with credits (`kind: "credits"`). Credits have neither `w` nor `t`;
 * - with `xRateLimit`, the fields that clients have read before these.
 *
 * The error of several limits gives the fields of each limit that denied the call. A call that was let
 * through because the store failed (`storeFailed`), or while the limiter was switched off (`disabled`), has
 * no fields.
 *
 * @param decision a denial as an error, or any result with the limit that it is about.
 * @throws RateLimitInputError for anything else, such as a result of `limitAll`.
 * @throws RateLimitConfigError for a result without its limiter and name.
 *
 * @example
 * import { rateLimitHeaders } from "trpc-rate-limit/server";
 *
 * const result = await limiter.limit("sendMessage", { key: userId });
 * const headers = rateLimitHeaders(result, { limiter, name: "sendMessage", key: userId });
 * const response = Response.json({ sent: result.ok }, { status: result.ok ? 200 : 429, headers });
 */
export function rateLimitHeaders(
  decision: { data: { rateLimit: RateLimitErrorData } },
  options?: RateLimitHeadersOptions,
): Record<string, string>;
export function rateLimitHeaders<TLimits extends LimitConfigs>(
  decision: RateLimitResult,
  limit: LimitOfResult<TLimits> & RateLimitHeadersOptions,
): Record<string, string>;
export function rateLimitHeaders(
  decision: unknown,
  limit: Partial<LimitOfResult> & RateLimitHeadersOptions = {},
): Record<string, string> {
  if (isResult(decision) && decision.ok && (decision.storeFailed || decision.disabled)) return {};
  if (isResult(decision)) return headersOf([factsOf(decision, limit)], limit);
  if (isRateLimitError(decision)) return headersOf(factsOfDenial(decision.data.rateLimit), limit);
  throw new RateLimitInputError("result", "rateLimitHeaders needs a result or a RateLimitError");
}

export function headersOf(
  facts: readonly LimitFacts[],
  options: RateLimitHeadersOptions,
): Record<string, string> {
  const longest = longestOf(facts.map(({ retryAfter = 0 }) => retryAfter));
  return {
    ...(longest > 0 && waitField(longest)),
    ...limitFields(facts),
    ...xFields(facts, options),
  };
}
