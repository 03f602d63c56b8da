/**
 * Decisions inside a transaction, one list at a time and without guesses: what the transaction has
 * written may yet be rolled back, so nothing of it may be remembered.
 */
import { plan } from "./plan.js";
import type { Decision, RateLimitStore, RowId } from "./store.js";
import { rowKey } from "./store.js";
import { WriteConflictError } from "./write-conflict.js";
import type { RowIO, Statements } from "./row-io.js";

/** Races for rows that do not exist yet are lost to whoever inserts first, so seldom twice. */
const MAX_ROUNDS = 5;

export function createDirect(
  io: Statements & Pick<RowIO, "isConflict" | "wrap">,
): Pick<RateLimitStore, "apply"> {
  let last: Promise<unknown> = Promise.resolve();

  async function applyAll<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
    const results: TResult[] = [];
    let open = decisions.map((decision, index) => ({ decision, index }));
    for (let round = 0; open.length > 0; round++) {
      if (round === MAX_ROUNDS) throw new WriteConflictError();
      const rows = new Map<string, RowId>();
      for (const { decision } of open) for (const row of decision.rows) rows.set(rowKey(row), row);
      // Always in the same order, since reading locks: two transactions then queue up.
      const ids = [...rows.keys()].sort();
      const states = await io.read(ids.map((id) => rows.get(id)!));
      const { settled, groups } = plan(
        open.map(({ decision }) => decision),
        states,
      );
      const failed = settled.find((outcome) => !outcome.ok);
      if (failed !== undefined) throw failed.error;
      const outcomes = await io.write(groups);
      const lost = new Set<number>();
      for (const group of groups) {
        const outcome = outcomes.get(group);
        if (outcome === undefined) for (const index of group.decisions) lost.add(index);
        else if (outcome !== "written") throw outcome.error;
      }
      for (const [i, { index }] of open.entries()) {
        const outcome = settled[i]!;
        if (!lost.has(i) && outcome.ok) results[index] = outcome.result as TResult;
      }
      open = open.filter((_, i) => lost.has(i));
    }
    return results;
  }

  return {
    apply(decisions) {
      // A transaction is one connection: what is called side by side goes one after the other.
      const result = last.then(() => applyAll(decisions)).catch(rethrow);
      last = result.catch(() => {});
      return result;
    },
  };

  /** A conflict has to reach the transaction's owner as it is; it alone can retry. */
  function rethrow(error: unknown): never {
    throw io.isConflict(error) ? error : io.wrap(error);
  }
}
