/** How a decision ended, in one word, and how long a denied call has to wait. */
import { isNever } from "../../core/config.js";
import type { RateLimitResult } from "../../core/decide.js";

export type Outcome =
  "granted" | "reserved" | "denied" | "shadow_denied" | "store_failed" | "disabled";

/**
 * @returns `wait` in ms; `undefined` if the limit would have let the call through, and if no wait
 * helps.
 */
export function outcomeOf(result: RateLimitResult): { outcome: Outcome; wait?: number } {
  if (!result.ok) return { outcome: "denied", ...waitOf(result) };
  const { retryAfter, shadow, storeFailed, disabled } = result;
  if (disabled === true) return { outcome: "disabled" };
  if (storeFailed === true) return { outcome: "store_failed" };
  if (shadow?.ok === false) return { outcome: "shadow_denied", ...waitOf(shadow) };
  return { outcome: retryAfter === undefined ? "granted" : "reserved" };
}

/** The wait, if a wait helps. A single wait of 253,000 years would hide all other waits in a mean. */
function waitOf({ retryAfter }: { retryAfter: number }): { wait?: number } {
  return isNever(retryAfter) ? {} : { wait: retryAfter };
}
