/** What a decision counts. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { Usage } from "../../../core/usage.js";
import type { DecisionEvent } from "../types/limiter-options.js";

/**
 * - A call that passes is granted, and has taken its tokens: also from a block of this process, by an
 *   override that exempts its key, past a shadow, or in an outage. Its work is done for the caller.
 * - A call that is denied is counted as that, also from memory.
 * - A charge takes tokens, and is no call that was granted.
 * - A call with an id that was charged before counts nothing. Nor do `check`, `credit` and what an
 *   operator does.
 */
export function usageOfEvent(
  action: DecisionEvent["action"],
  count: number,
  result: RateLimitResult,
): Partial<Usage> | undefined {
  if (action !== "limit" && action !== "charge") return undefined;
  if (!result.ok) return action === "limit" ? DENIED : undefined;
  if (result.repeated) return undefined;
  if (action === "charge") return { taken: count };
  return count === 1 ? ONE : { granted: 1, taken: count };
}

const ONE: Partial<Usage> = { granted: 1, taken: 1 };
const DENIED: Partial<Usage> = { denied: 1 };
