import { isFullAt } from "../../core/rows/reading.js";
import type { Row } from "../../core/rows/row.js";
import type { Bucket } from "../../core/config.js";
import { withStart } from "../../core/phase.js";
import { staysFull } from "../../core/with-calendar.js";
import type { RowId } from "./store.js";

/**
 * Whether a row is full under all of these configs. Only months depend on `start`, so the `start` of
 * other windows is not derived for each row.
 *
 * A row of a time zone must have been full for the longest window of its period already, see
 * `staysFull`.
 *
 * @param at epoch ms.
 */
export function isFullRow(
  { name, key }: Pick<RowId, "name" | "key">,
  state: Row,
  configs: readonly Bucket[],
  at: number,
): boolean {
  return configs.every((config) => {
    if (typeof config.period !== "string") return isFullAt(state, config, at);
    return isFullAt(state, withStart(config, name, key || undefined), at - staysFull(config));
  });
}
