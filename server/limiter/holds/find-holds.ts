/** Finds the open holds of a key. A call does not know the rows of holds, so the store looks for them. */
import { type Hold, holdOf, HOLDS } from "../../../core/rows/hold.js";
import { markerKey } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import type { RowId } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { type Marker, markerRow } from "../claims/markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

export interface FoundHold {
  readonly hold: Hold;
  readonly marker: Marker;
  /** The id, hashed where there is a `hashKey`. */
  readonly id: string;
}

type Finding = Pick<Context, "earliest" | "onceFor" | "environment">;

/** The open holds of one key, at most `most`. The holds that lapse first come first. */
export async function findHolds(
  { earliest, onceFor, environment }: Finding,
  limit: ResolvedLimit,
  most: number,
): Promise<FoundHold[]> {
  const { name, rows } = limit;
  const prefix = markerKey(rows[0].key);
  const found = await earliest(sideName(HOLDS, name), prefix, most);
  return found.map(({ row, state }) => ({
    hold: holdOf(state),
    marker: markerOfHold(limit, row, onceFor, environment.clock()),
    id: row.key.slice(prefix.length),
  }));
}

/** The marker beside a hold that was found by its row. */
export function markerOfHold(
  { name, onceFor: own }: Pick<ResolvedLimit, "name" | "onceFor">,
  hold: RowId,
  ofLimiter: number,
  countedAt: number,
): Marker {
  const onceFor = own ?? ofLimiter;
  return { row: markerRow(name, hold.key, onceFor, "take"), onceFor, hold, countedAt };
}
