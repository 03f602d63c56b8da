/** The rows that count the closings of limits with a list of `blockFor`. */
import type { Bucket } from "../../core/config.js";
import { strikesConfig } from "../../core/rows/strikes.js";
import { rowId, type RowId } from "../store/store.js";
import { type SideRows, sideName } from "./side-rows.js";

export const STRIKE_ROWS: SideRows = {
  feature: "strikes",
  configOf: strikesConfig,
  optionOf: ({ blockFor }) => (typeof blockFor === "object" ? "blockFor" : undefined),
};

/** The row of a limit, and the one that counts its closings. `undefined` where they are not counted. */
export function countedRows(row: RowId, config: Bucket): readonly [RowId, RowId] | undefined {
  const counting = strikesConfig(config);
  return counting && [row, rowId(sideName(STRIKE_ROWS, row.name), row.key, 0, counting)];
}
