/** Notes the tokens left of the limits of a procedure call, for the header fields of the response. */
import { keyOption } from "../../core/key-option.js";
import type { ChargedItem } from "../hosts/charge-request.js";
import type { ItemResult } from "../limiter/types/limit-all.js";
import type { Entry } from "./charged-names.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { noteDecisions, type NotedDecision } from "./decisions-of-call.js";
import { perEntry } from "./items-of-call.js";

interface Limits {
  limiter: Pick<UntypedRateLimiter, "clock" | "configOf">;
  /** The names that clients may not know. */
  hidden: readonly string[];
}

/**
 * Notes the results of limits that clients may know. Results with unknown tokens are left out: after a
 * failure of the store, for an id that was charged before, and of a limiter that is switched off.
 *
 * @param results of the entries, in their order.
 * @returns the noted decisions, for `forgetDecisions`.
 */
export function noteResults(
  { limiter, hidden }: Limits,
  entries: readonly Entry[],
  items: readonly ChargedItem[],
  results: readonly ItemResult[],
  getRawInput: Parameters<typeof noteDecisions>[0],
): readonly NotedDecision[] {
  const now = limiter.clock();
  // Of a `first`, the limits that were asked have results.
  const asked = perEntry(entries, items).flatMap(({ items: own }, i) => {
    const result = results[i]!;
    const all = "results" in result ? result.results : [result];
    return all.map((each, n) => ({ result: each, item: own[n]! }));
  });
  const noted = asked.flatMap(({ result, item: { name, key, plan, config: given } }) => {
    const isUnknown = result.ok && (result.storeFailed || result.repeated || result.disabled);
    if (hidden.includes(name) || isUnknown) return [];
    const config = limiter.configOf(name, { ...keyOption(key), plan, config: given });
    return [{ name, value: result.value, now, config }];
  });
  noteDecisions(getRawInput, noted);
  return noted;
}
