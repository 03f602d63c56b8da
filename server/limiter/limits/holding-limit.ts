/** The open holds that a denial has seen. */
import type { Row } from "../../../core/rows/row.js";
import type { ResolvedLimit } from "./resolved-limit.js";

/** A limit that has open holds, and the row that adds them up, as the denial has read it. */
export interface HoldingLimit {
  readonly limit: ResolvedLimit;
  readonly sum: Row;
}
