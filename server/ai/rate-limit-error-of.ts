/** Finds the denial inside an error of the AI SDK. */
import { isRateLimitError, type RateLimitError } from "../../core/errors.js";

/**
 * How many errors to look at. The AI SDK wraps a denial in the error of a retry, and in the error of an
 * answer without output.
 */
const MAX_DEPTH = 4;

/**
 * The denial of a call of a model. The AI SDK throws the denial as it is, or inside an error of its own.
 * After a retry, the denial is the `lastError` of the SDK's error.
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
