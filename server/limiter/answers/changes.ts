/**
 * Tells of the rows that decisions may have written, before their caller gets the answer. Tells of failed
 * decisions, too, because only their answer may have been lost.
 *
 * Then tells of the levels that decisions have crossed (`warnAt`). Where the answer was lost, the rows of
 * the warnings are found later.
 */
import type { RowId } from "../../store/store.js";
import type { Crossed } from "../claims/warnings.js";
import type { Apply } from "./asked.js";

export interface Noting {
  changed(row: RowId): void;
  crossed(levels: readonly Crossed[]): void;
}

export function noted({ changed, crossed }: Noting): (next: Apply) => Apply {
  return (next) => async (decisions) => {
    const results = await next(decisions).finally(() => {
      for (const { readOnly, rows } of decisions) if (!readOnly) rows.forEach(changed);
    });
    for (const { crossed: levels } of decisions as readonly Partial<CrossingDecision>[]) {
      if (levels !== undefined && levels.length > 0) crossed(levels);
    }
    return results;
  };
}

interface CrossingDecision {
  readonly crossed: readonly Crossed[];
}
