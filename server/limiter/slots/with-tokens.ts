/** A slot and tokens as one decision: both are taken, or neither is. */
import type { Decision, Outcome } from "../../store/store.js";
import type { AllDecided } from "../limit-all.js";
import type { Entered } from "./slot-decisions.js";

/** What one decision on a slot and on tokens answers. */
export interface SlotAndTokens {
  slot: Entered;
  tokens: AllDecided;
}

export function withTokens(
  slot: Decision<Entered>,
  tokens: Decision<AllDecided>,
): Decision<SlotAndTokens> {
  const slots = slot.rows.length;
  return {
    rows: [...slot.rows, ...tokens.rows],
    decide(states): Outcome<SlotAndTokens> {
      const [own, others] = [states.slice(0, slots), states.slice(slots)];
      const entered = slot.decide(own);
      const taken = tokens.decide(others);
      const result = { slot: entered.result, tokens: taken.result };
      if (!taken.result.ok) {
        // A denial may close a bucket (`blockFor`). The slot stays as it is.
        if (taken.writes === undefined) return { result };
        return { result, writes: [...own.map(() => undefined), ...taken.writes] };
      }
      if (entered.result.kind !== "entered") return { result };
      // Rows of tokens that stay as they are guard the slot: it is only right beside them.
      return { result, writes: [...entered.writes!, ...(taken.writes ?? others)] };
    },
  };
}
