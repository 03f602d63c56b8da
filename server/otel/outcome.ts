/** How a decision ended, in one word, and how long a denied call has to wait. */
import type { RateLimitResult } from "../../core/decide.js";

export type Outcome = "granted" | "reserved" | "denied" | "shadow_denied" | "store_failed";

/** The parts of a result that not every limit has. */
interface GrantedResult {
  retryAfter?: number | undefined;
  /** Of a limit in shadow mode: what it would have answered. */
  shadow?: { ok: boolean; retryAfter: number } | undefined;
  /** The call was let through because the store failed. */
  storeFailed?: boolean | undefined;
}

/** @returns `wait` in ms; `undefined` if the limit denied nothing. */
export function outcomeOf(result: RateLimitResult): { outcome: Outcome; wait?: number } {
  if (!result.ok) return { outcome: "denied", wait: result.retryAfter };
  const { retryAfter, shadow, storeFailed }: GrantedResult = result;
  if (storeFailed === true) return { outcome: "store_failed" };
  if (shadow?.ok === false) return { outcome: "shadow_denied", wait: shadow.retryAfter };
  return { outcome: retryAfter === undefined ? "granted" : "reserved" };
}
