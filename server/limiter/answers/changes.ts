/** Tells of the rows that decisions may have written, and of the levels that they have crossed. */
import type { RowId } from "../../store/store.js";
import type { Crossed } from "../claims/warnings.js";
import type { Apply } from "./asked.js";

/**
 * Tells of rows before their caller gets the answer. Tells of failed decisions, too, because only their
 * answer may have been lost.
 */
export function noted(changed: (row: RowId) => void): (next: Apply) => Apply {
  return (next) => (decisions) =>
    next(decisions).finally(() => {
      for (const { readOnly, rows } of decisions) if (!readOnly) rows.forEach(changed);
    });
}

/**
 * Tells of levels of `warnAt`. A call that asks one decision tells of its own. Where the answer was lost,
 * the rows of the warnings are found later.
 */
export function crossing(crossed: (levels: readonly Crossed[]) => void): (next: Apply) => Apply {
  return (next) => async (decisions) => {
    const results = await next(decisions);
    for (const { crossed: levels } of decisions as readonly Partial<CrossingDecision>[]) {
      if (levels !== undefined && levels.length > 0) crossed(levels);
    }
    return results;
  };
}

interface CrossingDecision {
  readonly crossed: readonly Crossed[];
}
