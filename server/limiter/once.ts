/**
 * `once`: the same id is charged once. A marker row is written in the same decision as the tokens, so
 * there is no instant at which one is there without the other. Only grants are remembered.
 */
import { answerAgain, markerKey, markerOf, MARKERS, wasCharged } from "../../core/rows/marker.js";
import { fullAfter, sideName, validateSideName } from "../../core/rows/side-rows.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { Bucket } from "../../core/config.js";
import { RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { holdOf, HOLDS, isLapsed } from "../../core/rows/hold.js";
import type { RateLimitState } from "../../core/calculate.js";
import { kindOf, MAX_KEY_LENGTH, problemOf } from "../../core/validate-key.js";
import { rowId, type RowId } from "../store/store.js";
import type { Claim, Draft } from "./draft.js";
import { endHold, rowsOfHold, writeHold } from "./holds/end-hold.js";
import type { HoldRequest } from "./holds/hold-options.js";
import type { ResolvedLimit } from "./resolve-limit.js";

/** The marker of one call. */
export interface Marker {
  readonly row: RowId;
  /** How long it says that its id was charged, ms. */
  readonly onceFor: number;
  /** Where the tokens of its id may be held, of a limit that has holds. */
  readonly hold?: RowId | undefined;
}

/** What the call with an id did. A payment may be told with the id that a client gives a call. */
export type MarkedAction = "take" | "credit";

/** Makes the marker of a call with an id. */
export type MarkerFor = (limit: ResolvedLimit, id: string, action?: MarkedAction) => Marker;

/**
 * @param toStoredKey hashes ids as it hashes keys.
 * @param defaultFor of limits that do not set `onceFor`, ms.
 * @returns a function that throws a `RateLimitInputError` for an id that is not valid, and a
 * `RateLimitConfigError` for a limit that cannot have any.
 */
export function createMarkers(
  toStoredKey: (key: string | undefined) => string | undefined,
  defaultFor: number,
): MarkerFor {
  return (limit, id, action = "take") => {
    const { name, config, rows, onceFor = defaultFor } = limit;
    if ((config.shards ?? 1) > 1) throw sharded(limit, id);
    validateSideName(MARKERS, name, "once");
    const problem = problemOf(id);
    if (problem !== undefined) throw invalid(problem, id);
    const key = markerKey(rows[0].key, toStoredKey(id));
    if (key.length > MAX_KEY_LENGTH) {
      const most = MAX_KEY_LENGTH - 1;
      throw invalid(
        `have at most ${most} characters together with the key, as they are stored`,
        id,
      );
    }
    const mayHold = limit.held !== undefined && action === "take";
    const hold = mayHold ? rowId(sideName(HOLDS, name), key, 0) : undefined;
    return { row: markerRow(name, key, onceFor, action), onceFor, hold };
  };
}

/** @param key see `markerKey`. */
export function markerRow(name: string, key: string, onceFor: number, action: MarkedAction): RowId {
  // The ids of the two are apart by the shard. Every text can be an id.
  const shard = action === "take" ? 0 : 1;
  return rowId(sideName(MARKERS, name), key, shard, fullAfter(onceFor));
}

/**
 * The claim, if its id was not charged before. If it was, the answer of then.
 *
 * @param hold holds its tokens under the id.
 */
export function once<TAnswer extends RateLimitResult | undefined>(
  claim: Claim<TAnswer>,
  limit: ResolvedLimit,
  marker: Marker,
  hold?: HoldRequest,
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
      draft.write(marker.row, markerOf(result, now));
      if (hold !== undefined) writeHold(draft, limit, marker, hold, now);
      return result;
    },
  };
}

/** What says that an id was charged, and the bucket that it was charged to. */
export interface Charged {
  readonly marker: RateLimitState;
  readonly row: RowId;
  readonly part: Bucket;
}

/**
 * What says that the id was charged before this call; `undefined` if it was not. A hold of the id that
 * has lapsed ends here: its id counts as charged only where its tokens were kept.
 */
export function chargedBefore(
  draft: Draft,
  limit: ResolvedLimit,
  marker: Marker,
  now: number,
): Charged | undefined {
  // As it was before this call, because two claims of it may be for the same bucket.
  const known = draft.readStored(marker.row);
  const isKnown = wasCharged(known, marker.onceFor, now);
  const isGivenBack = endLapsed(draft, limit, marker, now);
  const isCharged = isKnown && !isGivenBack;
  return isCharged ? { marker: known, row: limit.rows[0], part: limit.part } : undefined;
}

/** Ends the hold of an id if it has lapsed. @returns whether its tokens came back */
function endLapsed(draft: Draft, limit: ResolvedLimit, marker: Marker, now: number): boolean {
  if (marker.hold === undefined) return false;
  const stored = draft.readStored(marker.hold);
  if (!isLapsed(stored, now)) return false;
  endHold(draft, { limit, marker }, { kind: "lapse" }, now);
  return holdOf(stored).atLapse === "release";
}

function sharded({ name, config }: ResolvedLimit, id: string): RateLimitConfigError {
  const message =
    `once does not go with shards, and "${name}" has ${config.shards}: a call with once is one ` +
    "decision on one row, so leave shards out of this limit, or once out of the call";
  return new RateLimitConfigError("once", id, { message });
}

function invalid(problem: string, id: unknown): RateLimitInputError {
  return new RateLimitInputError("once", `once must ${problem}${kindOf(id)}`);
}
