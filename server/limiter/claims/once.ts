/**
 * `once`: the same id is charged once. A marker row is written in the same decision as the tokens, so
 * there is no instant at which one is there without the other. Only grants are remembered.
 */
import { usedAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import type { Bucket } from "../../../core/config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { holdOf, isLapsed } from "../../../core/rows/hold.js";
import { rowOf } from "../../../core/rows/bucket.js";
import { answerAgain, markerOf, wasCharged } from "../../../core/rows/marker.js";
import type { RowId } from "../../store/store.js";
import type { Claim, Draft } from "./draft.js";
import { endHold, LAPSE, rowsOfHold } from "./end-hold.js";
import type { Marker } from "./markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** The claim, if its id was not charged before. If it was, the answer of then. */
export function once<TAnswer extends RateLimitResult | undefined>(
  claim: Claim<TAnswer>,
  limit: ResolvedLimit,
  marker: Marker,
): Claim<TAnswer | RateLimitResult> {
  return {
    rows: [...claim.rows, marker.row, ...rowsOfHold(limit, marker)],
    isShadow: claim.isShadow,
    attempt(draft, now) {
      const known = chargedBefore(draft, limit, marker, now);
      // The row tells only where its windows begin.
      if (known !== undefined) {
        return answerAgain(known.marker, draft.peek(known.row), known.part, now);
      }
      const before = draft.writes;
      const result = claim.attempt(draft, now);
      // A denial that closes the bucket leaves no marker, and neither does a call that takes nothing.
      if (!result?.ok || draft.writes === before) return result;
      draft.write(marker.row, markerOf(draft.peek(limit.rows[0])!, limit.part, now));
      return result;
    },
  };
}

/** What says that an id was charged, and the bucket that it was charged to. */
export interface Charged {
  readonly marker: Row;
  readonly row: RowId;
  readonly part: Bucket;
}

/**
 * What says that the id was charged before this call; `undefined` if it was not. A hold of the id that
 * has lapsed ends here: its id counts as charged only where its tokens were kept. While a hold is open,
 * its id counts as charged, though a process with a shorter `onceFor` has forgotten it: to hold other
 * tokens under it would mix the two.
 */
export function chargedBefore(
  draft: Draft,
  limit: ResolvedLimit,
  marker: Marker,
  now: number,
): Charged | undefined {
  // As it was before this call, because two claims of it may be for the same bucket.
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
