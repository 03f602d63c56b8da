/**
 * `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`: the header fields of no standard
 * that many clients read. They have room for one limit.
 */
import { capacityOf, isNever } from "../../core/config.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { resetAt } from "../../core/reset-at.js";
import { integer, isCalculable, isStricter, type LimitFacts, seconds } from "./header-fields.js";

/** The options of all functions and middleware that make header fields. */
export interface RateLimitHeadersOptions {
  /**
   * Adds `X-RateLimit-Limit` (the capacity), `X-RateLimit-Remaining` (whole tokens left) and
   * `X-RateLimit-Reset` (when the bucket is full, or the window begins again), for clients that read these
   * fields already. The reset is in whole seconds from now, or with `"epoch"` in whole seconds since 1970,
   * rounded up. It is never before a denied call would pass, and is missing for credits. Of several limits,
   * the fields are about the one with the longest wait, or else about the one with the fewest tokens.
   * @default none of these fields
   */
  xRateLimit?: "seconds" | "epoch" | undefined;
}

/** @throws RateLimitConfigError for a value that plain JavaScript may pass. */
export function validateXRateLimit({ xRateLimit }: RateLimitHeadersOptions): void {
  if (xRateLimit === undefined || xRateLimit === "seconds" || xRateLimit === "epoch") return;
  throw new RateLimitConfigError("xRateLimit", xRateLimit, '"seconds" or "epoch"');
}

/** @throws RateLimitConfigError for an option that makes no sense. */
export function xFields(
  facts: readonly LimitFacts[],
  options: RateLimitHeadersOptions,
): Record<string, string> {
  validateXRateLimit(options);
  const { xRateLimit } = options;
  if (xRateLimit === undefined) return {};
  const [first, ...others] = facts.filter(isCalculable);
  if (first === undefined) return {};
  const fact = others.reduce((found, each) => (isStricter(each, found) ? each : found), first);
  const reset = resetOf(fact);
  return {
    "X-RateLimit-Limit": `${integer(capacityOf(fact.config))}`,
    "X-RateLimit-Remaining": `${integer(Math.max(0, fact.value))}`,
    ...(reset !== undefined && {
      "X-RateLimit-Reset": `${integer(seconds(xRateLimit === "epoch" ? reset : reset - fact.now))}`,
    }),
  };
}

/** Epoch ms. A bucket that a denial has closed begins to fill only when the wait is over. */
function resetOf(fact: LimitFacts): number | undefined {
  const { now, retryAfter = 0 } = fact;
  const reset = resetAt(fact);
  return reset === undefined || isNever(retryAfter) ? undefined : Math.max(reset, now + retryAfter);
}
