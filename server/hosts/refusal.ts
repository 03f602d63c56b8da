/** Why a request was not let through, for an answer of the application's own. */
import type {
  RateLimitError,
  RateLimitErrorData,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../core/errors.js";
import { isOfClient, statusOfError } from "./status-of-error.js";

/**
 * The reason why a request was not let through, and the error of it:
 *
 * - `"denied"`: the limits have no tokens for the request. `rateLimit` has the facts.
 * - `"no key"`: the `key` function returned `null`, such as for a visitor who has not signed in.
 * - `"invalid input"`: a key, a count or an id that is not valid.
 * - `"store failure"`: the store failed, so nothing is known about the limits.
 */
export type RateLimitRefusal =
  | { reason: "denied"; rateLimit: RateLimitErrorData; error: RateLimitError }
  | { reason: "no key" | "invalid input"; error: RateLimitInputError }
  | { reason: "store failure"; error: RateLimitStoreError };

/** @returns `undefined` for a mistake of the server, and for an error that is none of the package's. */
export function refusalOf(error: unknown): RateLimitRefusal | undefined {
  const answered = statusOfError(error);
  if (answered?.kind === "denied") {
    return { reason: "denied", rateLimit: answered.rateLimit, error: error as RateLimitError };
  }
  if (answered?.kind === "store") {
    return { reason: "store failure", error: error as RateLimitStoreError };
  }
  if (answered?.kind !== "input" || !isOfClient(answered.reason)) return undefined;
  const reason = answered.reason === "no key" ? "no key" : "invalid input";
  return { reason, error: error as RateLimitInputError };
}
