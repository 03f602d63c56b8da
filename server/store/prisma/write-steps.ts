/** Writing a batch in several statements, none of which spoils what became of the others. */
import type { WriteOutcomes } from "../row-io.js";
import type { WriteGroup } from "../plan.js";
import { rowKey } from "../store.js";
import { WriteConflictError } from "../write-conflict.js";
import { isWriteConflict } from "./conflict.js";
import type { Dialect } from "./dialect.js";

/** Thrown to roll a transaction back because a guard failed. */
export class GroupLost extends WriteConflictError {}

export interface WriteStep {
  groups: readonly WriteGroup[];
  /** Resolves with the rows written, by `rowKey`; each group all or nothing. */
  run(): Promise<ReadonlySet<string>>;
}

/**
 * @param joined whether this happens inside a transaction of somebody else's, which a conflict has
 * spoilt: its owner has to hear of it.
 */
export async function writeInSteps(
  steps: readonly WriteStep[],
  joined: boolean,
  isConflict: Dialect["isConflict"] = isWriteConflict,
): Promise<WriteOutcomes> {
  const outcomes: WriteOutcomes = new Map();
  for (const { groups, run } of steps) {
    if (groups.length === 0) continue;
    try {
      const rows = await run();
      for (const group of groups) {
        // All or nothing, so one row that was written speaks for its group.
        if (group.writes.some(({ row }) => rows.has(rowKey(row)))) outcomes.set(group, "written");
      }
    } catch (error) {
      if (joined) throw error;
      // A statement that met a conflict was rolled back: its groups have lost, and try again.
      if (isConflict(error)) continue;
      for (const group of groups) outcomes.set(group, { error });
    }
  }
  return outcomes;
}
