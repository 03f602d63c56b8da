/** The tokens that rows of a limit can give to one call. */
import { type Bucket, toleranceOf } from "../../../core/config.js";
import { heldAt } from "../../../core/rows/reading.js";
import { type Purse, sharesOf, wholeOf } from "../../../core/shares.js";
import type { RowId } from "../../store/store.js";
import type { Draft } from "./draft.js";

/** The tokens of the fuller row alone, or those of all rows together. */
export function purseOf(
  rows: readonly RowId[],
  part: Bucket,
  draft: Pick<Draft, "peek">,
  now: number,
): Purse {
  const held = rows.map((row) => heldAt(draft.peek(row), part, now).value);
  const sum = held.reduce((total, value) => total + value, 0);
  const fuller = Math.max(...held);
  const tolerance = toleranceOf(part);
  return fuller >= sum
    ? { value: fuller, tolerance }
    : { value: sum, tolerance: held.length * tolerance };
}

/**
 * The tokens that a purse gives to a call for `count`: as many as it has.
 *
 * @param isWhole whether the purse gives whole tokens only.
 */
export function shareOf(purse: Purse, count: number, isWhole: boolean): number {
  if (sharesOf([purse], count) !== undefined) return count;
  return Math.max(0, isWhole ? wholeOf(purse) : purse.value);
}
