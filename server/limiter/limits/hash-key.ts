/** The key under which a limiter stores a caller's rows: the caller's own, or its hash. */
import { RateLimitConfigError } from "../../../core/errors.js";
import { problemOf, validateKey } from "../../../core/validate-key.js";

/**
 * @param hashKey see `RateLimiterOptions.hashKey`.
 * @returns a function from a caller's key to the key of its rows. `undefined`, the shared bucket, stays
 * as it is. The function throws a `RateLimitInputError` for a key that is not valid, and a
 * `RateLimitConfigError` if `hashKey` throws or returns a key that is not valid.
 * @throws RateLimitConfigError when `hashKey` is not a function.
 */
export function createStoredKey(
  hashKey: ((key: string) => string) | undefined,
): (key: string | undefined) => string | undefined {
  if (hashKey !== undefined && typeof hashKey !== "function") {
    throw new RateLimitConfigError("hashKey", hashKey, "a function");
  }
  return (key) => {
    validateKey(key);
    if (key === undefined || hashKey === undefined) return key;
    let stored: unknown;
    try {
      stored = hashKey(key);
    } catch (error) {
      throw invalid(hashKey, "not throw", { cause: error });
    }
    const isPromise = typeof Object(stored).then === "function";
    const problem = isPromise ? "be a string, and not a promise" : problemOf(stored);
    if (problem === undefined) return stored as string;
    throw invalid(hashKey, problem);
  };
}

/** The error has neither the key nor its hash, because both have to stay out of logs. */
function invalid(hashKey: unknown, problem: string, reason: ErrorOptions = {}): Error {
  const message = `hashKey must return a valid key: it must ${problem}`;
  const error = new RateLimitConfigError("hashKey", hashKey, { message });
  // As `Error` sets it: not enumerable, so that no serialiser sends it.
  if ("cause" in reason) Object.defineProperty(error, "cause", { value: reason.cause });
  return error;
}
