/** `hold`: a claim whose tokens are held under the id of its call. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { Claim } from "./draft.js";
import { type NewHold, writeHolds } from "./end-hold.js";

/**
 * The claim, which also writes its holds. All holds are written together after the grant, because each
 * hold says how many holds there are.
 *
 * @param claim a claim that also names the rows of the holds.
 * @param holdsOf the holds of an answer.
 */
export function withHolds<TAnswer>(
  claim: Claim<TAnswer>,
  holdsOf: (answer: TAnswer) => readonly NewHold[],
): Claim<TAnswer> {
  return {
    rows: claim.rows,
    isShadow: claim.isShadow,
    attempt(draft, now) {
      const answer = claim.attempt(draft, now);
      writeHolds(draft, holdsOf(answer), now);
      return answer;
    },
  };
}

/** Whether a call has taken tokens of its own that can be held. */
export function isTaken(result: RateLimitResult): boolean {
  return result.ok && !result.repeated;
}
