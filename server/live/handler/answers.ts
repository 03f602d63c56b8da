/** The answers of the handler, as JSON. No cache may keep them: they are about one caller and one instant. */
import { isRateLimitError } from "../../../core/errors.js";
import { isOfClient, statusOfError } from "../../hosts/status-of-error.js";
import { rateLimitResponse } from "../../http/rate-limit-response.js";
import { RefusedRequest, type RefusalCode } from "../refused.js";

const STATUS: Record<RefusalCode, number> = {
  BAD_REQUEST: 400,
  CONFLICT: 409,
  FORBIDDEN: 403,
  METHOD_NOT_SUPPORTED: 405,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
};

interface Refusal {
  status: number;
  error: { code: string; message: string };
}

export function json(body: unknown, status: number = 200): Response {
  const headers = { "Cache-Control": "no-store", ...(status === 405 && { Allow: "GET, POST" }) };
  return Response.json(body, { status, headers });
}

/**
 * The answer to a request that is not answered as asked.
 *
 * @throws the error itself where it is a mistake of the server, for the error handler of its host.
 */
export function answerOf(error: unknown): Response {
  // A `Response` of the application's `key` function. Hosts have a class of their own.
  if (isResponse(error)) return error;
  // The application may limit these requests, too.
  if (isRateLimitError(error)) return rateLimitResponse(error);
  const { status, error: body } = jsonOf(error);
  return json(body, status);
}

/**
 * The same, as a part of an answer about several limits.
 *
 * @throws the error itself where it is a mistake of the server, or the answer to the whole request.
 */
export function jsonOf(error: unknown): Refusal {
  if (error instanceof RefusedRequest) {
    const { code, message } = error;
    return { status: STATUS[code], error: { code, message } };
  }
  const answered = statusOfError(error);
  if (answered?.kind === "store") {
    const { status, code } = answered;
    return { status, error: { code, message: "Rate limits cannot be checked right now" } };
  }
  if (answered?.kind !== "input" || !isOfClient(answered.reason)) throw error;
  const { status, code } = answered;
  return { status, error: { code, message: (error as Error).message } };
}

function isResponse(value: unknown): value is Response {
  return value instanceof Response || Object.prototype.toString.call(value) === "[object Response]";
}
