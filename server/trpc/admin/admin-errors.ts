/** The errors of the admin router. Callers may read what is wrong with their own input, and no more. */
import { TRPCError } from "@trpc/server";
import { isTRPCError, toPublicError } from "../errors.js";

/** The options of the limiter's methods with values that come from the caller. */
const OF_CALLER = new Set(["times", "add", "until", "only", "from", "to", "every"]);

export function badRequest(message: string, cause?: unknown): TRPCError {
  return new TRPCError({ code: "BAD_REQUEST", message, cause });
}

/**
 * Runs `work`. A value of the caller that cannot work is a `BAD_REQUEST`. Other errors of the package are
 * thrown as in the router of pages. Any other error is thrown without details.
 */
export async function throwingAdminErrors<TResult>(work: () => Promise<TResult>): Promise<TResult> {
  try {
    return await work();
  } catch (error) {
    throw toAdminError(error);
  }
}

function toAdminError(error: unknown): unknown {
  const { name, option, message } = Object(error) as Record<string, unknown>;
  if (name === "RateLimitConfigError" && OF_CALLER.has(String(option))) {
    return badRequest(String(message), error);
  }
  const known = toPublicError(error);
  if (isTRPCError(known)) return known;
  const text = "The rate limits could not be read or changed";
  return new TRPCError({ code: "INTERNAL_SERVER_ERROR", message: text, cause: error });
}
