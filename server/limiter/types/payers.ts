/** Checks of limits of which the first pays that has the tokens, in whatever method or middleware. */
import { describe, RateLimitConfigError } from "../../../core/errors.js";

/**
 * @param of what has the list, for the message.
 * @throws RateLimitConfigError for what is no list, and for a list of no limits.
 */
export function demandList(list: unknown, of: string, option: string): void {
  if (Array.isArray(list) && list.length > 0) return;
  const got = Array.isArray(list) ? "an empty list" : describe(list);
  const message = `${of} needs a list of at least one limit, got ${got}`;
  throw new RateLimitConfigError(option, list, { message });
}

/** @throws RateLimitConfigError for a `first` of no limits, and for a `split` that is no boolean. */
export function validateFirst({ first, split }: { first: unknown; split?: unknown }): void {
  demandList(first, "first", "first");
  if (split === undefined || typeof split === "boolean") return;
  throw new RateLimitConfigError("split", split, "a boolean");
}

/**
 * The error for a shadow among the limits.
 *
 * @param of what asks the limits, for the message.
 */
export function shadowPayer(of: string, name: string): RateLimitConfigError {
  const message =
    `${of} cannot ask "${name}", which is a shadow: it denies no call, so no limit after it ` +
    "would ever pay; leave shadow out, or charge it beside these limits";
  return new RateLimitConfigError("shadow", true, { message });
}
