/**
 * Turns the package's errors into tRPC errors. The code says what kind of failure it was. A denial
 * has its facts in `error.data.rateLimit`, plain JSON.
 */
import { TRPCError, type TRPC_ERROR_CODE_KEY } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import {
  adviceOf,
  isRateLimitError,
  type RateLimitErrorData,
  remadeError,
} from "../../core/errors.js";
import { statusOfError } from "../hosts/status-of-error.js";
import { withFewDenials } from "../http/header-fields.js";
import { RefusedRequest } from "../live/refused.js";
import type { DefaultErrorShape, TRPCErrorShape } from "./trpc-types.js";

/**
 * Recognizes a `TRPCError` by its name, as tRPC does: an application in CommonJS has another copy of the
 * class.
 */
export function isTRPCError(error: unknown): error is TRPCError {
  return error instanceof Error && error.name === "TRPCError";
}

/**
 * The `TRPCError` for one of the package's errors. Any other error is returned as it is.
 *
 * - a denial: `TOO_MANY_REQUESTS`, with `data.rateLimit` for `isRateLimitError`;
 * - a key, a name or a count that is not valid: `BAD_REQUEST`, or `PAYLOAD_TOO_LARGE` for a count
 *   that could never be granted;
 * - a failure of the store: `SERVICE_UNAVAILABLE`, without internals in its message;
 * - a request that is refused: its code.
 */
export function toTRPCError(error: unknown): unknown {
  if (isTRPCError(error)) return error;
  if (error instanceof RefusedRequest) {
    const { code, message, cause } = error;
    return new TRPCError({ code, message, cause });
  }
  const answered = statusOfError(error);
  if (answered === undefined || answered.kind === "config") return error;
  if (answered.kind === "store") return unavailable(error);
  const made = make(answered.code, error);
  const { data } = error as { data?: unknown };
  return answered.kind === "denied" ? Object.assign(made, { data }) : made;
}

/**
 * The error that the middleware and the router throw: as `toTRPCError`, and `INTERNAL_SERVER_ERROR` for a
 * config or a `hashKey` that is not valid. The client cannot mend such an error, and its message would
 * show internals. The `cause` has the reason.
 */
export function toPublicError(error: unknown): unknown {
  const answered = isTRPCError(error) ? undefined : statusOfError(error);
  if (answered?.kind !== "config") return toTRPCError(error);
  return make(answered.code, error, "A rate limit of this request has no valid config");
}

/**
 * The error for a transaction that rejects although its procedure has not failed. The store has failed in
 * this case: it could not begin, lock or commit. An error of the driver would show internals.
 */
export function toTransactionError(error: unknown): unknown {
  const known = toPublicError(error);
  return isTRPCError(known) ? known : unavailable(error);
}

/** The messages that clients get instead of messages about a limit that they may not know. */
const PUBLIC_MESSAGES: Partial<Record<TRPC_ERROR_CODE_KEY, string>> = {
  TOO_MANY_REQUESTS: "Too many requests",
  PAYLOAD_TOO_LARGE: "The request is too large",
};

/**
 * The same error, or an error without facts where the error is about a hidden limit. Of several limits
 * that denied a call, the limit with the longest wait decides. Other hidden limits are left out of the
 * facts. Server code finds the facts at `cause.cause`, and not at `cause`: `formatRateLimitError` sends
 * the facts at `cause` to the client.
 */
export function concealed(error: unknown, hidden: readonly string[]): unknown {
  if (!isTRPCError(error)) return error;
  const rateLimit = isRateLimitError(error) ? error.data.rateLimit : undefined;
  const isAbout = (name: string) =>
    rateLimit ? rateLimit.name === name : error.message.includes(`"${name}"`);
  if (!hidden.some(isAbout)) {
    const denials = rateLimit?.denials?.filter(({ name }) => !hidden.includes(name));
    if (!rateLimit || denials?.length === rateLimit.denials?.length) return error;
    const shown = remadeError(error.cause, { ...rateLimit, denials });
    // As `Error` sets it: not enumerable, so that no serialiser sends it.
    Object.defineProperty(shown, "cause", { value: error });
    return toTRPCError(shown);
  }
  const about = PUBLIC_MESSAGES[error.code] ?? "The request is not valid";
  const message = rateLimit ? `${about}. ${adviceOf(rateLimit)}` : about;
  const cause = new ConcealedError("about a rate limit that is not exposed", { cause: error });
  cause.retryAfter = rateLimit?.retryAfter;
  return new TRPCError({ code: error.code, message, cause });
}

class ConcealedError extends Error {
  retryAfter: number | undefined;
}

/** ms until the denied call would pass, for a denial without facts. */
export function concealedWait({ cause }: TRPCError): number {
  return (cause instanceof ConcealedError && cause.retryAfter) || 0;
}

function unavailable(cause: unknown): TRPCError {
  return make("SERVICE_UNAVAILABLE", cause, "Rate limits cannot be checked right now");
}

function make(code: TRPC_ERROR_CODE_KEY, cause: unknown, message?: string): TRPCError {
  return new TRPCError({ code, cause, message: message ?? (cause as Error).message });
}

/** Runs `work`, and turns its errors into public errors by `toPublicError`. */
export async function throwingPublicErrors<TResult>(
  work: () => Promise<TResult>,
): Promise<TResult> {
  try {
    return await work();
  } catch (error) {
    throw toPublicError(error);
  }
}

/** An error shape with the facts of a denial. */
export type RateLimitErrorShape<TShape extends TRPCErrorShape, TName extends string> = Omit<
  TShape,
  "data"
> & { data: TShape["data"] & { rateLimit?: RateLimitErrorData<TName> } };

/**
 * For `errorFormatter`: adds `data.rateLimit` to denials, whether the middleware denied the call or
 * the procedure itself called `limiter.limit(…, { throws: true })`. The package's other errors get
 * their codes. Every other shape is returned unchanged. At most 100 `denials` are sent.
 *
 * @param _limiter only for its type: with a limiter, `data.rateLimit.name` is the union of the limiter's
 * names.
 *
 * @example
 * import { initTRPC } from "@trpc/server";
 * import { formatRateLimitError } from "trpc-rate-limit/trpc";
 *
 * const t = initTRPC.context<{ userId: string }>().create({
 *   errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
 * });
 */
export function formatRateLimitError<
  TShape extends TRPCErrorShape = DefaultErrorShape,
  TLimits extends object = Record<string, unknown>,
>(
  shape: TShape,
  error: TRPCError,
  _limiter?: { readonly limits: TLimits },
): RateLimitErrorShape<TShape, keyof TLimits & string> {
  const known = toTRPCError(error.cause);
  // The application may hide a `TRPCError` behind another error, unless the `TRPCError` is a denial.
  const isOurs = known !== error.cause || isRateLimitError(known);
  const made = isOurs && isTRPCError(known) ? known : error;
  const facts = isRateLimitError<keyof TLimits & string>(made) && made.data.rateLimit;
  if (made === error && !facts) return shape;
  const rateLimit = facts && withFewDenials(facts);
  return {
    ...shape,
    // A message for the limits that are sent: the original message names all limits that denied the call.
    message:
      rateLimit && rateLimit !== facts ? remadeError(made.cause, rateLimit).message : made.message,
    code: TRPC_ERROR_CODES_BY_KEY[made.code],
    data: {
      ...shape.data,
      code: made.code,
      httpStatus: getHTTPStatusCodeFromError(made),
      ...(rateLimit && { rateLimit }),
    },
  };
}
