/**
 * `once`: the same id is charged once. A marker row is written in the same decision as the tokens, so at
 * no instant are the tokens taken without a marker, or the reverse. Only grants are remembered.
 */
import { usedAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import type { Bucket } from "../../../core/config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { holdOf, isLapsed } from "../../../core/rows/hold.js";
import { rowOf } from "../../../core/rows/bucket.js";
import {
  answerAgain,
  grantedIn,
  grantedRow,
  markerOf,
  wasCharged,
} from "../../../core/rows/marker.js";
import type { RowId } from "../../store/store.js";
import type { Claim, Draft } from "./draft.js";
import { endHold, LAPSE, rowsOfHold } from "./end-hold.js";
import type { Marker } from "./markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** Attempts the claim if its id was not charged before. If the id was charged, repeats the first answer. */
export function once<TAnswer extends RateLimitResult | undefined>(
  claim: Claim<TAnswer>,
  limit: ResolvedLimit,
  marker: Marker,
): Claim<TAnswer | RateLimitResult> {
  return {
    rows: [
      ...claim.rows,
      marker.row,
      ...(marker.granted ? [marker.granted] : []),
      ...rowsOfHold(limit, marker),
    ],
    isShadow: claim.isShadow,
    attempt(draft, now) {
      const known = chargedBefore(draft, limit, marker, now);
      // The row is only read for the start of its windows, so it needs no guard.
      if (known !== undefined) {
        const again = answerAgain(known.marker, draft.peek(known.row), known.part, now);
        if (marker.granted === undefined) return again;
        const granted = grantedIn(draft.read(marker.granted), known.marker);
        return granted === undefined ? again : { ...again, granted };
      }
      const before = draft.writes;
      const result = claim.attempt(draft, now);
      // A denial that closes the bucket leaves no marker, and neither does a call that takes nothing.
      if (!result?.ok || draft.writes === before) return result;
      draft.write(marker.row, markerOf(rowAfter(draft, limit, now), limit.part, now));
      if (marker.granted) draft.write(marker.granted, grantedRow(result.granted!, now));
      return result;
    },
  };
}

/** The row of a limit after a call was granted. A caller that an override exempts may have no row. */
export function rowAfter(draft: Draft, { rows, part }: ResolvedLimit, now: number): Row {
  const row = draft.peek(rows[0]);
  if (row !== null) return row;
  const { used, ts } = usedAt(null, part, now);
  return rowOf(part, used, ts);
}

/** The marker of an id that was charged, and the bucket that was charged. */
export interface Charged {
  readonly marker: Row;
  readonly row: RowId;
  readonly part: Bucket;
}

/**
 * The marker of an id that was charged before this call; `undefined` if the id was not charged. A lapsed
 * hold of the id ends here: the id then counts as charged only where the tokens of the hold were kept.
 * While a hold is open, its id counts as charged, also where a process with a shorter `onceFor` has
 * forgotten the id: other tokens under the same id would mix with the hold.
 */
export function chargedBefore(
  draft: Draft,
  limit: ResolvedLimit,
  marker: Marker,
  now: number,
): Charged | undefined {
  // The marker as it was before this call, because two claims of the call may be for the same bucket.
  const known = draft.readStored(marker.row);
  const isKnown = wasCharged(known, marker.onceFor, now) || isOpen(draft, marker, now);
  const isGivenBack = endLapsed(draft, limit, marker, now);
  if (!isKnown || isGivenBack) return undefined;
  const [row] = limit.rows;
  const { part } = limit;
  const { used, ts } = usedAt(draft.peek(row), part, now);
  return { marker: known ?? markerOf(rowOf(part, used, ts), part, now), row, part };
}

function isOpen(draft: Draft, { hold }: Marker, now: number): boolean {
  const stored = hold === undefined ? null : draft.readStored(hold);
  return stored !== null && !isLapsed(stored, now);
}

/** Ends the hold of an id if it has lapsed. @returns whether its tokens came back */
function endLapsed(draft: Draft, limit: ResolvedLimit, marker: Marker, now: number): boolean {
  if (marker.hold === undefined) return false;
  const stored = draft.readStored(marker.hold);
  if (!isLapsed(stored, now)) return false;
  endHold(draft, { limit, marker }, LAPSE, now);
  return holdOf(stored).atLapse === "release";
}
