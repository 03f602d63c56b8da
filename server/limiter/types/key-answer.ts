/** The answer of the application's `key` function to the question for the key of a request. */

import { RateLimitInputError } from "../../../core/errors.js";

/** Not a `unique symbol`: TypeScript widens a `unique symbol` to `symbol` in the result of a function. */
export type SharedBucket = symbol & { readonly description: "trpc-rate-limit.shared-bucket" };

/**
 * A `key` function returns this for the bucket that all callers share. The value is a symbol, so that no
 * key of a user equals it. `Symbol.for` makes the symbol, so that two copies of the package have the same
 * symbol.
 */
export const SHARED_BUCKET = Symbol.for("trpc-rate-limit.shared-bucket") as SharedBucket;

/**
 * - a string: the key;
 * - `SHARED_BUCKET`: the bucket that all callers share;
 * - `null`: the request is rejected.
 *
 * `undefined` does not compile, and is rejected, because a missing user id looks like it.
 */
export type KeyAnswer = string | SharedBucket | null;

/** The error of a request for which the `key` function of its host returned `null`. */
export function noKey(name: string): RateLimitInputError {
  return new RateLimitInputError("no key", `Rate limit "${name}" has no key for this caller`);
}

/**
 * The key that an answer stands for; `undefined` for the bucket that all callers share.
 *
 * @param refusal makes the error for an answer that is no key.
 */
export function keyOfAnswer(
  answer: unknown,
  refusal: (answer: unknown) => Error,
): string | undefined {
  if (answer === SHARED_BUCKET) return undefined;
  if (typeof answer === "string") return answer;
  throw refusal(answer);
}
