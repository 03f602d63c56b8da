/** Finds a denial in what the AI SDK has made of it. */
import { isRateLimitError, type RateLimitError } from "../../core/errors.js";

/** How deep it can lie: in the error of a retry, and in that of an answer without output. */
const MAX_DEPTH = 4;

/**
 * The denial of a call of a model. The AI SDK throws it as it is, or inside of an error of its own: where
 * the provider has refused the call before and it was tried again, it is the `lastError` of that.
 *
 * @returns `undefined` for an error that is about something else.
 *
 * @example
 * import { rateLimitErrorOf } from "trpc-rate-limit/ai";
 *
 * try {
 *   await runModel();
 * } catch (error) {
 *   const denial = rateLimitErrorOf(error);
 *   if (denial === undefined) throw error;
 *   console.log(`Try again in ${denial.data.rateLimit.retryAfter} ms`);
 * }
 */
export function rateLimitErrorOf(error: unknown): RateLimitError | undefined {
  let inner = error;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (isRateLimitError(inner)) return inner as unknown as RateLimitError;
    const { lastError, cause } = Object(inner) as { lastError?: unknown; cause?: unknown };
    inner = lastError ?? cause;
  }
  return undefined;
}
