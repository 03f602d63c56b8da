/**
 * Answers a request without tRPC that is not let through: route handlers, Hono, Fastify, and every
 * other host that knows the `Response` of `fetch`.
 */
import type { RateLimitResult } from "../../core/decide.js";
import { type RateLimitErrorData, RateLimitInputError } from "../../core/errors.js";
import { type AnsweredError, isOfClient, statusOfError } from "../hosts/status-of-error.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { factsOf, isResult, type LimitOfResult } from "./limit-of-result.js";
import { factsOfDenial, withFewDenials } from "./header-fields.js";
import type { RateLimitHeadersOptions } from "./x-rate-limit.js";
import { headersOf } from "./rate-limit-headers.js";

/** The options of `rateLimitResponse`. */
export interface RateLimitResponseInit extends RateLimitHeadersOptions {
  /**
   * More header fields, such as the fields of CORS. The response's own fields replace fields of the same
   * name.
   * @default none
   */
  headers?: ConstructorParameters<typeof Headers>[0];
}

/**
 * The `Response` for a call that was not let through:
 *
 * | what | status | JSON |
 * | --- | --- | --- |
 * | a denied result, a `RateLimitError`, or the `TRPCError` of one | 429, with `rateLimitHeaders` | `RateLimitErrorData` |
 * | a `RateLimitStoreError`, or the `TRPCError` of one | 503 | `{ kind: "StoreFailure" }` |
 * | a `RateLimitInputError` about a key, a count or an id for `once` | 400 | `{ kind: "InvalidInput", reason }` |
 * | one about a count that no wait could satisfy | 413 | the same |
 *
 * At most 100 `denials` are sent, and header fields of at most 2,000 characters: the first limits,
 * as many as fit. Of a denial that is no plain JSON, only `kind`, `retryAfter` and `now` are sent.
 *
 * Every other error is thrown again, unchanged, so that `catch (error) { return
 * rateLimitResponse(error); }` hides no mistake.
 *
 * @param result a denied result. `init` then has the limit that the result is about.
 * @throws RateLimitInputError for a granted result, which has nothing to respond to, and for a result of
 * `limitAll`, which is about several limits: call `limitAll` with `throws: true`.
 * @throws RateLimitConfigError for a result without its limiter and name.
 *
 * @example
 * import { rateLimitResponse } from "trpc-rate-limit/server";
 *
 * export async function POST(request: Request) {
 *   try {
 *     await limiter.limit("sendMessage", { key: await userOf(request), throws: true });
 *   } catch (error) {
 *     return rateLimitResponse(error); // 429 with Retry-After, or 503
 *   }
 *   return Response.json({ sent: true });
 * }
 */
export function rateLimitResponse<TLimits extends LimitConfigs>(
  result: RateLimitResult,
  init: RateLimitResponseInit & LimitOfResult<TLimits>,
): Response;
export function rateLimitResponse<TError>(
  error: TError extends { ok: boolean } ? never : TError,
  init?: RateLimitResponseInit,
): Response;
export function rateLimitResponse(
  error: unknown,
  init: RateLimitResponseInit & Partial<LimitOfResult> = {},
): Response {
  if (isResult(error)) return respond(429, denialOf(error, init), init);
  const answered = answeredOf(error);
  if (answered?.kind === "denied") return respond(answered.status, answered.rateLimit, init);
  if (answered?.kind === "store") return respond(answered.status, { kind: "StoreFailure" }, init);
  if (answered?.kind !== "input" || !isOfClient(answered.reason)) throw error;
  return respond(answered.status, { kind: "InvalidInput", reason: answered.reason }, init);
}

function answeredOf(error: unknown): AnsweredError | undefined {
  const own = statusOfError(error);
  const { name, cause } = Object(error) as { name?: unknown; cause?: unknown };
  if (own !== undefined || name !== "TRPCError") return own;
  const answered = statusOfError(cause);
  // A `TRPCError` of a denial has the facts itself. Without the facts, it is an error of the application.
  return answered?.kind === "denied" ? undefined : answered;
}

function denialOf(result: RateLimitResult, limit: Partial<LimitOfResult>): RateLimitErrorData {
  const { name, config, value, now, retryAfter } = factsOf(result, limit);
  if (retryAfter === undefined) {
    throw new RateLimitInputError(
      "result",
      "rateLimitResponse needs a denied result, got a granted one",
    );
  }
  return { kind: "RateLimited", name, retryAfter, value, config, now };
}

interface Problem {
  kind: "StoreFailure" | "InvalidInput";
  reason?: unknown;
}

function respond(
  status: number,
  body: RateLimitErrorData | Problem,
  init: RateLimitResponseInit,
): Response {
  const headers = new Headers(init.headers);
  headers.set("Content-Type", "application/json");
  const fields = body.kind === "RateLimited" ? headersOf(factsOfDenial(body), init) : {};
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  return new Response(toJson(body), { status, headers });
}

/** The most characters of a body. A hundred limits with the longest names take half of this length. */
const MAX_BODY = 100_000;

/**
 * An error may come from another program, and hold a value that JSON cannot hold (a cycle, a BigInt), or
 * a very long text. Then only the wait is sent: a denial must not become an error of the server.
 */
function toJson(body: RateLimitErrorData | Problem): string {
  if (body.kind !== "RateLimited") return JSON.stringify(body);
  try {
    const json = JSON.stringify(withFewDenials(body));
    if (json.length <= MAX_BODY) return json;
  } catch {
    // Treat the error as a text that is too long.
  }
  const { kind, retryAfter, now } = body;
  return JSON.stringify({ kind, retryAfter, now });
}
