/** A slot and tokens as one claim: both are taken, or neither is. */
import type { AllOfAnswer } from "../claims/all-of.js";
import type { Claim } from "../draft.js";
import type { Entered } from "./slot-decisions.js";

export interface SlotAndTokens {
  slot: Entered;
  tokens: AllOfAnswer;
}

export function slotAndTokens(
  slot: Claim<Entered>,
  tokens: Claim<AllOfAnswer>,
): Claim<SlotAndTokens> {
  return {
    rows: [...slot.rows, ...tokens.rows],
    attempt(draft, now) {
      const [ofSlot, ofTokens] = [draft.fork(), draft.fork()];
      const answer = {
        slot: slot.attempt(ofSlot, now),
        tokens: tokens.attempt(ofTokens, now),
      };
      const isEntered = answer.slot.kind === "entered";
      // A denial may close a bucket (`blockFor`), with or without a slot.
      if (!answer.tokens.ok || isEntered) draft.adopt(ofTokens);
      if (answer.tokens.ok && isEntered) draft.adopt(ofSlot);
      return answer;
    },
  };
}
