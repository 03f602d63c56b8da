/**
 * The limiter's errors as better-auth answers them. better-auth recognizes its own errors by their name.
 */
import { type RateLimitErrorData, remadeError } from "../../core/errors.js";
import { type AnsweredError, statusOfError } from "../hosts/status-of-error.js";
import { headersOf } from "./rate-limit-headers.js";
import type { RateLimitHeadersOptions } from "./x-rate-limit.js";
import { factsOfDenial, withFewDenials } from "./header-fields.js";

/** The parts of better-auth's `APIError` that are used here. */
export interface BetterAuthError extends Error {
  /** The name of the status, such as `UNAUTHORIZED`. */
  status: string | number;
  /** The HTTP status. */
  statusCode: number;
  /** The JSON of the answer. */
  body?: { code?: string | undefined; message?: string | undefined } | undefined;
}

class ApiError extends Error implements BetterAuthError {
  override readonly name = "APIError";

  readonly status: string;
  readonly statusCode: number;

  constructor(
    { code, status }: AnsweredError,
    readonly body: { code: string; message: string; rateLimit?: RateLimitErrorData },
    readonly headers: Record<string, string>,
    cause: unknown,
  ) {
    super(body.message, { cause });
    this.status = code;
    this.statusCode = status;
  }

  /** Where `isRateLimitError` looks for the facts of a denial. */
  get data(): { rateLimit?: RateLimitErrorData } {
    return this.body;
  }
}

const isAboutKey = (reason: unknown) => reason === "key" || reason === "no key";

/** @returns the same error where the error is none of the limiter's, or is a mistake of the server. */
export function toBetterAuthError(error: unknown, options: RateLimitHeadersOptions): unknown {
  const answered = statusOfError(error);
  if (answered?.kind === "denied") {
    const rateLimit = withFewDenials(answered.rateLimit);
    const { message } = remadeError(error, rateLimit);
    const body = { code: "RATE_LIMITED", message, rateLimit };
    const headers = headersOf(factsOfDenial(rateLimit), options);
    // The field that better-auth's own limits send, which its clients read.
    const fields = { ...headers, "X-Retry-After": headers["Retry-After"]! };
    return new ApiError(answered, body, fields, error);
  }
  if (answered?.kind === "store") {
    const message = "Rate limits cannot be checked. Please try again later.";
    return new ApiError(answered, { code: "RATE_LIMITS_UNAVAILABLE", message }, {}, error);
  }
  // The other reasons are mistakes of the server: its rules alone choose names.
  if (answered?.kind === "input" && isAboutKey(answered.reason)) {
    const { message } = error as Error;
    return new ApiError(answered, { code: "NO_RATE_LIMIT_KEY", message }, {}, error);
  }
  return error;
}
