/** The limiter's errors as better-auth answers them. It knows its own errors by their name. */
import { isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";
import { headersOf } from "./rate-limit-headers.js";
import { factsOfDenial, withFewDenials } from "./header-fields.js";

/** What better-auth calls an `APIError`, as far as it is used here. */
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

  constructor(
    readonly status: string,
    readonly statusCode: number,
    readonly body: { code: string; message: string; rateLimit?: RateLimitErrorData },
    readonly headers: Record<string, string>,
    cause: unknown,
  ) {
    super(body.message, { cause });
  }

  /** Where `isRateLimitError` looks for the facts of a denial. */
  get data(): { rateLimit?: RateLimitErrorData } {
    return this.body;
  }
}

/** @returns the same error where it is none of the limiter's, or a mistake of the server. */
export function toBetterAuthError(error: unknown): unknown {
  if (isRateLimitError(error)) {
    const rateLimit = withFewDenials(error.data.rateLimit);
    const message = "Too many requests. Please try again later.";
    const code = "RATE_LIMITED";
    const headers = headersOf(factsOfDenial(rateLimit));
    return new ApiError(
      "TOO_MANY_REQUESTS",
      429,
      { code, message, rateLimit },
      // The field that better-auth's own limits send, which its clients read.
      { ...headers, "X-Retry-After": headers["Retry-After"]! },
      error,
    );
  }
  const { name, reason } = Object(error) as { name?: unknown; reason?: unknown };
  if (name === "RateLimitStoreError") {
    const message = "Rate limits cannot be checked. Please try again later.";
    const body = { code: "RATE_LIMITS_UNAVAILABLE", message };
    return new ApiError("SERVICE_UNAVAILABLE", 503, body, {}, error);
  }
  if (name === "RateLimitInputError" && reason === "key") {
    const body = { code: "NO_RATE_LIMIT_KEY", message: (error as Error).message };
    return new ApiError("BAD_REQUEST", 400, body, {}, error);
  }
  return error;
}
