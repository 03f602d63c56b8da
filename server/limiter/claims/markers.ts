/** The rows of ids that were charged, see `core/rows/marker.ts`. */
import { HOLDS } from "../../../core/rows/hold.js";
import { GRANTED_SHARD, markerKey, MARKERS } from "../../../core/rows/marker.js";
import { fullAfter, sideName, validateSideName } from "../../../core/rows/side-rows.js";
import { RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { kindOf, MAX_KEY_LENGTH, problemOf } from "../../../core/validate-key.js";
import { rowId, type RowId } from "../../store/store.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** The marker of one call. */
export interface Marker {
  readonly row: RowId;
  /** How long the marker says that its id was charged, ms. */
  readonly onceFor: number;
  /** The row that may hold the tokens of the id, for a limit with holds. */
  readonly hold?: RowId | undefined;
  /** What the id takes counts as usage in the span of this instant, epoch ms. */
  readonly countedAt?: number;
  /** The row that says how many tokens were granted, for a call with `atLeast`. */
  readonly granted?: RowId;
}

/**
 * The action of a call with an id. Each action has ids of its own, because a payment may have the same id
 * as a client's call.
 */
export type MarkedAction = "take" | "credit";

/** Makes the marker of a call with an id. */
export type MarkerFor = (limit: ResolvedLimit, id: string, action?: MarkedAction) => Marker;

/**
 * @param toStoredKey hashes ids as it hashes keys.
 * @param defaultFor the `onceFor` of limits that do not set it, ms.
 * @returns a function that throws a `RateLimitInputError` for an id that is not valid, and a
 * `RateLimitConfigError` for a limit that cannot have markers.
 */
export function createMarkers(
  toStoredKey: (key: string | undefined) => string | undefined,
  defaultFor: number,
  clock: () => number,
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
    const mayHold = limit.holdRows !== undefined && action === "take";
    const hold = mayHold ? rowId(sideName(HOLDS, name), key, 0) : undefined;
    const countedAt = limit.usage ? clock() : 0;
    return { row: markerRow(name, key, onceFor, action), onceFor, hold, countedAt };
  };
}

/** @param key see `markerKey`. */
export function markerRow(name: string, key: string, onceFor: number, action: MarkedAction): RowId {
  // The shard keeps the ids of the two actions apart. A prefix could not, because every text can be an
  // id.
  const shard = action === "take" ? 0 : 1;
  return rowId(sideName(MARKERS, name), key, shard, fullAfter(onceFor));
}

/** The marker of a call with `atLeast`. */
export function withGranted(marker: Marker): Marker {
  const { name, key, config } = marker.row;
  return { ...marker, granted: rowId(name, key, GRANTED_SHARD, config) };
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
