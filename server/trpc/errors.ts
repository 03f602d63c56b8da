/**
 * How the package's errors cross the wire: as tRPC errors whose codes say what kind of failure it
 * was, and for a denial with the facts in `error.data.rateLimit`, plain JSON.
 */
import {
  TRPCError,
  type TRPC_ERROR_CODE_KEY,
  type TRPCDefaultErrorShape,
  type TRPCErrorShape,
} from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import { isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";

/**
 * The `TRPCError` for one of the package's errors; any other error comes back as it is.
 *
 * - denied: `TOO_MANY_REQUESTS`, its `data.rateLimit` for `isRateLimitError`;
 * - a key, a name or a count that cannot be served: `BAD_REQUEST`, or `PAYLOAD_TOO_LARGE` for a
 *   count that could never be granted;
 * - the store failed: `SERVICE_UNAVAILABLE`, with nothing internal in its message.
 */
export function toTRPCError(error: unknown): unknown {
  if (error instanceof TRPCError) return error;
  if (isRateLimitError(error)) {
    const made = make("TOO_MANY_REQUESTS", error);
    return Object.assign(made, { data: error.data });
  }
  // By name: a `kind` like these, errors of the application's own may have, too.
  const { name, reason } = (error ?? {}) as { name?: unknown; reason?: unknown };
  if (name === "RateLimitInputError") {
    return make(reason === "unsatisfiable" ? "PAYLOAD_TOO_LARGE" : "BAD_REQUEST", error);
  }
  if (name === "RateLimitStoreError") {
    return make("SERVICE_UNAVAILABLE", error, "Rate limits cannot be checked right now");
  }
  return error;
}

function make(code: TRPC_ERROR_CODE_KEY, cause: unknown, message?: string): TRPCError {
  return new TRPCError({ code, cause, message: message ?? (cause as Error).message });
}

/** Runs `work`; what it throws of the package's errors leaves as a `TRPCError`. */
export async function throwingTRPCErrors<TResult>(work: () => Promise<TResult>): Promise<TResult> {
  try {
    return await work();
  } catch (error) {
    throw toTRPCError(error);
  }
}

/** An error shape that tells a client the facts of a denial. */
export type RateLimitErrorShape<TShape extends TRPCErrorShape, TName extends string> = Omit<
  TShape,
  "data"
> & { data: TShape["data"] & { rateLimit?: RateLimitErrorData<TName> } };

/**
 * For `errorFormatter`: adds `data.rateLimit` to denials, whether the middleware refused the call
 * or the procedure itself called `limiter.limit(…, { throws: true })`, and gives the package's
 * other errors their codes. Every other shape passes unchanged.
 *
 * @param limiter only for its type: with it, `data.rateLimit.name` is the union of its names.
 */
export function formatRateLimitError<
  TShape extends TRPCErrorShape = TRPCDefaultErrorShape,
  TLimits extends object = Record<string, unknown>,
>(
  shape: TShape,
  error: TRPCError,
  _limiter?: { readonly limits: TLimits },
): RateLimitErrorShape<TShape, keyof TLimits & string> {
  const known = toTRPCError(error.cause);
  // A `TRPCError` that caused another one is for the application to hide, unless it is a denial.
  const isOurs = known !== error.cause || isRateLimitError(known);
  const made = isOurs && known instanceof TRPCError ? known : error;
  const rateLimit = isRateLimitError<keyof TLimits & string>(made) && made.data.rateLimit;
  if (made === error && !rateLimit) return shape;
  return {
    ...shape,
    message: made.message,
    code: TRPC_ERROR_CODES_BY_KEY[made.code],
    data: {
      ...shape.data,
      code: made.code,
      httpStatus: getHTTPStatusCodeFromError(made),
      ...(rateLimit && { rateLimit }),
    },
  };
}
