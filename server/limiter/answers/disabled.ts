/**
 * The chains of a limiter that is switched off (`enabled`). Each decision is made here, as if no row had
 * been written before, and its writes are dropped. So every operation works without a trip.
 */
import type { Decision } from "../../store/store.js";
import { isFixed } from "../limits/overrides/fixed-row.js";
import type { Answers, Ask } from "./asked.js";
import { neverOpened } from "./when-store-fails.js";

export function disabledAnswers(): Answers {
  const ask: Ask = (call) => {
    let result;
    try {
      result = decideWithoutStore(call.toDecision());
    } catch (error) {
      return call.failed(error);
    }
    call.done(result);
  };
  return {
    ask,
    limit: { row: ask, memory: ask, block: ask, "block, memory": ask },
    apply: async (decisions) => decisions.map(decideWithoutStore),
    opened: neverOpened,
  };
}

function decideWithoutStore<TResult>(decision: Decision<TResult>): TResult {
  const states = decision.rows.map((row) => (isFixed(row) ? row.fixed : null));
  return decision.decide(states).result;
}
