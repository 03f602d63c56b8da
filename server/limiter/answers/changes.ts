/**
 * Tells of the rows that decisions may have written, before their caller gets the answer. Tells of failed
 * decisions, too, because only their answer may have been lost.
 */
import type { RowId } from "../../store/store.js";
import type { Apply } from "./asked.js";

export function noted(changed: (row: RowId) => void): (next: Apply) => Apply {
  return (next) => (decisions) =>
    next(decisions).finally(() => {
      for (const { readOnly, rows } of decisions) if (!readOnly) rows.forEach(changed);
    });
}
