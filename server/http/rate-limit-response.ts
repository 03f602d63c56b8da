/**
 * Answers a request without tRPC that is not let through: route handlers, Hono, Fastify, and every
 * other host that knows the `Response` of `fetch`.
 */
import type { RateLimitResult } from "../../core/decide.js";
import {
  isRateLimitError,
  type RateLimitErrorData,
  RateLimitInputError,
} from "../../core/errors.js";
import type { LimitConfigs } from "../call-options.js";
import { factsOf, isResult, type LimitOfResult } from "./limit-of-result.js";
import { factsOfDenial } from "./fields.js";
import { headersOf } from "./rate-limit-headers.js";

/** The options of `rateLimitResponse`. */
export interface RateLimitResponseInit {
  /**
   * More header fields, such as those of CORS. The response's own fields replace fields of the same
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
 * | a `RateLimitInputError` about a key or a count | 400 | `{ kind: "InvalidInput", reason }` |
 * | one about a count that no wait could satisfy | 413 | the same |
 *
 * Every other error is thrown again, unchanged, so that `catch (error) { return
 * rateLimitResponse(error); }` hides no mistake.
 *
 * @param result a denied result. It needs the limit that it is about.
 * @throws RateLimitInputError for a granted result, which has nothing to respond to, and for a
 * result of `limitAll`, which is about several limits: call that one with `throws: true`.
 * @throws RateLimitConfigError for a result without its limiter and name.
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
  if (isRateLimitError(error)) return respond(429, error.data.rateLimit, init);
  // By name, because an error can come from another copy of the package.
  const { name, cause } = propertiesOf(error);
  const { name: ours, reason } = propertiesOf(name === "TRPCError" ? cause : error);
  if (ours === "RateLimitStoreError") return respond(503, { kind: "StoreFailure" }, init);
  // The other reasons are mistakes of the server: it alone chooses names.
  const status = ours === "RateLimitInputError" ? STATUS_OF_REASON.get(reason) : undefined;
  if (status === undefined) throw error;
  return respond(status, { kind: "InvalidInput", reason }, init);
}

const STATUS_OF_REASON: ReadonlyMap<unknown, number> = new Map([
  ["key", 400],
  ["count", 400],
  ["unsatisfiable", 413],
]);

function propertiesOf(value: unknown): { name?: unknown; cause?: unknown; reason?: unknown } {
  return Object(value) as object;
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
  const fields = body.kind === "RateLimited" ? headersOf(factsOfDenial(body)) : {};
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  return new Response(JSON.stringify(body), { status, headers });
}
