/**
 * `once`: the same id is charged once. A marker row is written in the same decision as the tokens, so
 * there is no instant at which one is there without the other. Only grants are remembered.
 */
import { answerAgain, markerKey, markerOf, MARKERS, wasCharged } from "../../core/rows/marker.js";
import { fullAfter, sideName, validateSideName } from "../../core/rows/side-rows.js";
import type { RateLimitResult } from "../../core/decide.js";
import { RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { kindOf, MAX_KEY_LENGTH, problemOf } from "../../core/validate-key.js";
import { rowId, type RowId } from "../store/store.js";
import type { Claim } from "./draft.js";
import type { ResolvedLimit } from "./resolve-limit.js";

/** The marker of one call. */
export interface Marker {
  readonly row: RowId;
  /** How long it says that its id was charged, ms. */
  readonly onceFor: number;
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
    return { row: markerRow(name, key, onceFor, action), onceFor };
  };
}

/** @param key see `markerKey`. */
export function markerRow(name: string, key: string, onceFor: number, action: MarkedAction): RowId {
  // The ids of the two are apart by the shard. Every text can be an id.
  const shard = action === "take" ? 0 : 1;
  return rowId(sideName(MARKERS, name), key, shard, fullAfter(onceFor));
}

/** The claim, if its id was not charged before. If it was, the answer of then. */
export function once<TAnswer extends RateLimitResult | undefined>(
  claim: Claim<TAnswer>,
  { part, rows: [row] }: ResolvedLimit,
  marker: Marker,
): Claim<TAnswer | RateLimitResult> {
  return {
    rows: [...claim.rows, marker.row],
    isShadow: claim.isShadow,
    attempt(draft, now) {
      // As it was before this call, because two claims of it may be for the same bucket.
      const known = draft.readStored(marker.row);
      // The row tells only where its windows begin.
      if (wasCharged(known, marker.onceFor, now)) {
        return answerAgain(known, draft.peek(row), part, now);
      }
      const before = draft.writes;
      const result = claim.attempt(draft, now);
      // A denial that closes the bucket leaves no marker, and neither does a call that takes nothing.
      if (result?.ok && draft.writes > before) draft.write(marker.row, markerOf(result, now));
      return result;
    },
  };
}

/** The claim that gives all tokens of a call back, and deletes the marker of the call with them. */
export function forgettingMarker<TAnswer>(
  claim: Claim<TAnswer>,
  marker: RowId,
  ts: number,
): Claim<TAnswer> {
  return {
    rows: [...claim.rows, marker],
    attempt(draft, now) {
      // It may have lapsed, and have been written for a later call.
      if (draft.peek(marker)?.ts === ts) draft.write(marker, null);
      return claim.attempt(draft, now);
    },
  };
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
