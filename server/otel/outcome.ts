/** How a decision ended, in one word, and how long a denied call has to wait. */
import type { RateLimitResult } from "../../core/decide.js";

export type Outcome = "granted" | "reserved" | "denied" | "shadow_denied" | "store_failed";

/** @returns `wait` in ms; `undefined` if the limit would have let the call through. */
export function outcomeOf(result: RateLimitResult): { outcome: Outcome; wait?: number } {
  if (!result.ok) return { outcome: "denied", wait: result.retryAfter };
  const { retryAfter, shadow, storeFailed } = result;
  if (storeFailed === true) return { outcome: "store_failed" };
  if (shadow?.ok === false) return { outcome: "shadow_denied", wait: shadow.retryAfter };
  return { outcome: retryAfter === undefined ? "granted" : "reserved" };
}
