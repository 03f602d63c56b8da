/** The error of a limit of slots in place of a limit of tokens. */
import { describe, RateLimitConfigError } from "../../../core/errors.js";

/** The error of a call that wants tokens of a limit of slots. */
export function noTokens(name: string): RateLimitConfigError {
  const message =
    `${describe(name)} is of kind "concurrency", which has slots and no tokens; use enter(), and ` +
    "check(), getValue() or reset() to read and to free its slots";
  return new RateLimitConfigError("name", name, { message });
}
