/** Notes the tokens left of the limits of a procedure call, for the header fields of the response. */
import { keyOption } from "../../core/key-option.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { ChargedItem } from "../hosts/charge-request.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { noteDecisions, type NotedDecision } from "./decisions-of-call.js";

interface Limits {
  limiter: Pick<UntypedRateLimiter, "clock" | "configOf">;
  /** The names that clients may not know. */
  hidden: readonly string[];
}

/**
 * Notes the results of limits that clients may know. Results with unknown tokens are left out: after a
 * failure of the store, for an id that was charged before, and of a limiter that is switched off.
 *
 * @param results the results of the first items, in their order.
 * @returns the noted decisions, for `forgetDecisions`.
 */
export function noteResults(
  { limiter, hidden }: Limits,
  items: readonly ChargedItem[],
  results: readonly RateLimitResult[],
  getRawInput: Parameters<typeof noteDecisions>[0],
): readonly NotedDecision[] {
  const now = limiter.clock();
  const noted = results.flatMap((result, i) => {
    const { name, key, plan, config: given } = items[i]!;
    const isUnknown = result.ok && (result.storeFailed || result.repeated || result.disabled);
    if (hidden.includes(name) || isUnknown) return [];
    const config = limiter.configOf(name, { ...keyOption(key), plan, config: given });
    return [{ name, value: result.value, now, config }];
  });
  noteDecisions(getRawInput, noted);
  return noted;
}
