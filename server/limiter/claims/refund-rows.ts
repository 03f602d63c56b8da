/** The claim that gives tokens back to rows: for `refund`, `settle` and the end of a hold. */
import { refillBetween } from "../../../core/calculate.js";
import { usedAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import {
  refundTaken,
  type RefundedRateLimit,
  refundRateLimit,
  type TakenTokens,
} from "../../../core/refund.js";
import { levelIn } from "../../../core/rows/bucket.js";
import type { LeaseTerms } from "../../leases/lease-terms.js";
import type { RowId } from "../../store/store.js";
import type { Claim } from "./draft.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

export type Refunded = Omit<RefundedRateLimit, "next">;

/**
 * Gives tokens back to rows of a limit. `rest` counts the tokens that were not given back.
 *
 * @param taken how the tokens were taken, per row; `undefined` where that is not known.
 */
export function refundRows(
  { part, lease }: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  taken?: readonly TakenTokens[],
): Claim<Refunded> {
  return {
    rows,
    attempt(draft, now) {
      const states = rows.map((row) => draft.read(row));
      const [state] = states as [Row | null];
      // Only tokens that no take of a block, also by another process, can have made the row lose
      // meanwhile.
      const room = lease && taken ? roomBelow(lease, state, taken[0]!, now) : Infinity;
      const { next, ...result } =
        taken === undefined
          ? refundRateLimit(states, part, now, count)
          : refundTaken(states, part, now, Math.min(count, room), taken);
      for (const [i, row] of rows.entries()) if (next[i] !== undefined) draft.write(row, next[i]);
      return result;
    },
  };
}

/**
 * How many tokens could have come back to a row at every instant since a call took from it, without
 * lifting the row above the level that the take of a block leaves: `least` below the capacity. The take
 * of a block drops the tokens above that level. Tokens that come back after such a take could be there a
 * second time.
 */
function roomBelow(
  { config, least }: LeaseTerms,
  row: Row | null,
  taken: TakenTokens,
  now: number,
): number {
  const { ts, refunded = 0 } = taken;
  const refilled = refillBetween(config, ts, usedAt(row, config, now).ts);
  return Math.max(0, levelIn(config, taken).used - least - refilled - refunded);
}
