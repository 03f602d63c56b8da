/** The row of a limit that an override, or a plan, exempts or blocks. The row is in no store. */
import type { Row } from "../../../../core/rows/row.js";
import type { RowId } from "../../../store/store.js";

export interface FixedRow extends RowId {
  /** The state of the row; `null` for a full bucket. */
  readonly fixed: Row | null;
}

export function isFixed(row: RowId): row is FixedRow {
  return row.shard < 0;
}
