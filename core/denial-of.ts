/** Finds the denial in what a page gets from a server: JSON, its text, or an error that has the text. */
import { isRateLimitError, type RateLimitErrorData } from "./errors.js";

/**
 * The facts of a denial that a server has answered: of the JSON of `rateLimitResponse`, of its text, or of
 * an error whose message is that text, such as the `error` of `useChat` of the AI SDK. Also of the errors
 * that `isRateLimitError` knows.
 *
 * @returns `undefined` for anything else.
 *
 * @example
 * import { denialOf } from "trpc-rate-limit";
 *
 * const response = await fetch("/api/messages", { method: "POST", body: text });
 * const denial = response.status === 429 ? denialOf(await response.text()) : undefined;
 * if (denial) console.log(`Try again in ${denial.retryAfter} ms`);
 */
export function denialOf<TName extends string = string>(
  answer: unknown,
): RateLimitErrorData<TName> | undefined {
  if (isRateLimitError<TName>(answer)) return answer.data.rateLimit;
  const error = { data: { rateLimit: factsIn(answer) } };
  return isRateLimitError<TName>(error) ? error.data.rateLimit : undefined;
}

function factsIn(answer: unknown): unknown {
  const { message = answer } = Object(answer) as { message?: unknown };
  if (typeof message !== "string") return answer;
  try {
    return JSON.parse(message) as unknown;
  } catch {
    return undefined;
  }
}
