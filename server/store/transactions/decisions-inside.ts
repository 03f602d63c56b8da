/**
 * Applies decisions inside a transaction, of the store or of the application, one list after the other.
 * The store of a transaction keeps no state of its own, because the transaction may be rolled back.
 */
import { planWrites } from "../plan-writes.js";
import type { RowAccess, RowStatements } from "../row-access.js";
import { type Decision, type JoinedStore, rowKey, type RowId } from "../store.js";
import { WriteConflictError } from "../retry-conflicts.js";
import type { TransactionGate } from "./after-the-end.js";

/**
 * The most tries of one list. A try fails when another transaction inserts one of its rows first.
 */
const MAX_ROUNDS = 5;

/** The limits inside a transaction. */
export interface TransactionStore extends Required<JoinedStore> {
  /** Resolves when the calls so far are answered. */
  settled(): Promise<unknown>;
  /** From now on, no statement is sent, and each call rejects with this error. */
  end(error: unknown): void;
}

/** @param gate lets no statement through after the end. */
export function createTransactionStore(
  statements: RowStatements,
  { isConflict, wrap }: Pick<RowAccess, "isConflict" | "wrap">,
  { list, earliest }: Required<Pick<JoinedStore, "list" | "earliest">>,
  gate: Pick<TransactionGate, "send" | "close">,
): TransactionStore {
  let last: Promise<unknown> = Promise.resolve();

  async function applyAll<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
    const results: TResult[] = [];
    let open = decisions.map((decision, index) => ({ decision, index }));
    for (let round = 0; open.length > 0; round++) {
      if (round === MAX_ROUNDS) throw new WriteConflictError();
      const rows = new Map<string, RowId>();
      for (const { decision } of open) for (const row of decision.rows) rows.set(rowKey(row), row);
      // Lock in the same order everywhere, so that two transactions queue up instead of
      // deadlocking.
      const ids = [...rows.keys()].sort();
      const states = await statements.read(ids.map((id) => rows.get(id)!));
      const { settled, groups } = planWrites(
        open.map(({ decision }) => decision),
        states,
      );
      const failed = settled.find((outcome) => !outcome.ok);
      if (failed !== undefined) throw failed.error;
      const outcomes = await statements.write(groups);
      const lost = new Set<number>();
      for (const group of groups) {
        const outcome = outcomes.get(group);
        if (outcome === "written") continue;
        if (typeof outcome === "object") throw outcome.error;
        for (const index of group.decisions) lost.add(index);
      }
      for (const [i, { index }] of open.entries()) {
        const outcome = settled[i]!;
        if (!lost.has(i) && outcome.ok) results[index] = outcome.result as TResult;
      }
      open = open.filter((_, i) => lost.has(i));
    }
    return results;
  }

  /** A transaction has one connection, so concurrent calls run one after the other. */
  function inTurn<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  }

  const apply: TransactionStore["apply"] = (decisions) => applyAll(decisions).catch(rethrow);
  const inside = { apply, send: gate.send };

  return {
    apply: (decisions) => inTurn(() => apply(decisions)),
    list: (...page) => inTurn(() => list(...page).catch(rethrow)),
    earliest: (...of) => inTurn(() => earliest(...of).catch(rethrow)),
    inTurn: (work) => inTurn(() => work(inside)),
    settled: () => last,
    end: gate.close,
  };

  /**
   * A conflict has to reach the transaction's owner unchanged, because only the owner can retry.
   */
  function rethrow(error: unknown): never {
    throw isConflict(error) ? error : wrap(error);
  }
}
