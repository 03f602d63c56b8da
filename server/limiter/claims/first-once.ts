/** `once` of `limitFirst`: an id is paid for once, by one of the limits, or by several limits in part. */
import { answerAgain, markerOf } from "../../../core/rows/marker.js";
import type { Claim } from "./draft.js";
import { type NewHold, rowsOfHold } from "./end-hold.js";
import type { HoldTerms } from "../types/hold-terms.js";
import type { Marker } from "./markers.js";
import { type Charged, chargedBefore, rowAfter } from "./once.js";
import type { FirstOfAnswer, Payer } from "./first-of.js";
import type { LimitRequest } from "../limits/limit-request.js";

/**
 * Attempts the claim if its id was not charged before, to any of the limits. If the id was charged,
 * repeats the first answers of the limits that paid.
 *
 * @param markers of the payers, in order.
 */
export function firstOnce(
  claim: Claim<FirstOfAnswer>,
  payers: readonly Payer[],
  markers: readonly Marker[],
): Claim<FirstOfAnswer> {
  const limitOf = (i: number) => payers[i]!.request.limit;
  const markerRows = markers.flatMap((marker, i) => [
    marker.row,
    ...rowsOfHold(limitOf(i), marker),
  ]);
  return {
    rows: [...claim.rows, ...markerRows],
    attempt(draft, now) {
      const charged = markers.map((marker, i) => chargedBefore(draft, limitOf(i), marker, now));
      const last = charged.findLastIndex((known) => known !== undefined);
      if (last >= 0) {
        const asked = payers.slice(0, last + 1).map((payer, i) => ({
          result: again(charged[i]) ?? payer.refuse(draft, now, payer.request.count),
        }));
        return { ok: true, asked, retryAfter: 0, repeated: true };
      }
      const answer = claim.attempt(draft, now);
      if (!answer.ok) return answer;
      for (const [i, { paid = 0 }] of answer.asked.entries()) {
        const limit = limitOf(i);
        // An exempt caller takes nothing. Its usage counts once for each id all the same.
        if (paid === 0 || (limit.answer !== undefined && limit.usage === undefined)) continue;
        draft.write(markers[i]!.row, markerOf(rowAfter(draft, limit, now), limit.part, now));
      }
      return answer;

      function again(known: Charged | undefined) {
        return known && answerAgain(known.marker, draft.peek(known.row), known.part, now);
      }
    },
  };
}

/**
 * The holds of the limits that paid: shares of one count.
 *
 * @param markers of the requests, in order.
 */
export function heldShares(
  { asked }: FirstOfAnswer,
  requests: readonly LimitRequest[],
  markers: readonly Marker[],
  terms: HoldTerms,
): NewHold[] {
  return asked.flatMap(({ paid: count = 0 }, i) => {
    const { limit } = requests[i]!;
    const isHeld = count > 0 && limit.answer === undefined;
    return isHeld ? [{ ...terms, count, limit, marker: markers[i]!, isShare: true }] : [];
  });
}
