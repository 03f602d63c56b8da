/** The markers of calls with `once`, as rows: when they have lapsed. */
import type { Bucket } from "../../core/config.js";
import { rowId, type RowId } from "../store/store.js";
import { sideName, type SideRows } from "./side-rows.js";

/** Above every number of tokens in a marker, so that only time makes it full. */
const FULL = 2 ** 64;

/** A marker is a window that holds next to nothing until `onceFor` has passed, and then is full. */
function markerConfig(onceFor: number): Bucket {
  return { kind: "fixed window", rate: FULL, capacity: FULL, period: onceFor };
}

export const ONCE_ROWS: SideRows = {
  feature: "once",
  configOf: ({ onceFor, shards = 1 }, ofLimiter) =>
    shards === 1 ? markerConfig(onceFor ?? ofLimiter) : undefined,
  optionOf: ({ onceFor }) => (onceFor === undefined ? undefined : "onceFor"),
};

/** What the call with an id did. A payment may be told with the id that a client gives a call. */
export type MarkedAction = "take" | "credit";

/** @param key see `markerKey`. */
export function markerRow(name: string, key: string, onceFor: number, action: MarkedAction): RowId {
  // The ids of the two are apart by the shard. Every text can be an id.
  const shard = action === "take" ? 0 : 1;
  return rowId(sideName(ONCE_ROWS, name), key, shard, markerConfig(onceFor));
}
