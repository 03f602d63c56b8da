/** The usage that a decision counts. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { Usage } from "../../../core/usage.js";
import type { DecisionEvent } from "../types/limiter-options.js";

/**
 * - A call that passes counts as granted, and its tokens as taken: also from a block of this process, by
 *   an override that exempts its key, past a shadow, or in an outage. The caller does its work in all
 *   these cases.
 * - A call that is denied counts as denied, also from memory.
 * - A charge counts its tokens as taken, and no call as granted.
 * - A call with an id that was charged before counts nothing. `check`, `credit` and an operator's actions
 *   count nothing, too.
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
