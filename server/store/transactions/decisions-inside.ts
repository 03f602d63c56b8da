/**
 * Applies decisions inside a transaction, of the store or of the application, one list after the other.
 * The store of a transaction keeps no state of its own, because the transaction may be rolled back.
 */
import { planWrites, type Settled } from "../plan-writes.js";
import type { RowAccess, RowStatements } from "../row-access.js";
import { type Decision, type JoinedStore, rowKey, type RowId } from "../store.js";
import { WriteConflictError } from "../retry-conflicts.js";
import type { TransactionGate } from "./after-the-end.js";

/**
 * The most tries of one list. A try fails when another transaction inserts one of its rows first.
 */
const MAX_ROUNDS = 5;

/** The limits inside a transaction. */
export class TransactionStore implements Required<JoinedStore> {
  #last: Promise<unknown> = Promise.resolve();

  /** @param gate lets no statement through after the end. */
  constructor(
    private readonly statements: RowStatements,
    private readonly access: Pick<RowAccess, "isConflict" | "wrap">,
    private readonly reads: Required<Pick<JoinedStore, "list" | "earliest">>,
    private readonly gate: Pick<TransactionGate, "send" | "close">,
  ) {}

  readonly apply: JoinedStore["apply"] = (decisions) =>
    this.#afterLast(() => this.#apply(decisions));

  readonly list: NonNullable<JoinedStore["list"]> = (...page) =>
    this.#afterLast(() => this.reads.list(...page).catch(this.#rethrow));

  readonly earliest: NonNullable<JoinedStore["earliest"]> = (...of) =>
    this.#afterLast(() => this.reads.earliest(...of).catch(this.#rethrow));

  readonly inTurn: NonNullable<JoinedStore["inTurn"]> = (work) =>
    this.#afterLast(() => work({ apply: this.#apply, send: this.gate.send }));

  /** Resolves when the calls so far are answered. */
  settled(): Promise<unknown> {
    return this.#last;
  }

  /** From now on, no statement is sent, and each call rejects with this error. */
  end(error: unknown): void {
    this.gate.close(error);
  }

  readonly #apply: JoinedStore["apply"] = (decisions) =>
    applyAll(this.statements, decisions).catch(this.#rethrow);

  /** A transaction has one connection, so concurrent calls run one after the other. */
  #afterLast<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /**
   * A conflict has to reach the transaction's owner unchanged, because only the owner can retry.
   */
  readonly #rethrow = (error: unknown): never => {
    throw this.access.isConflict(error) ? error : this.access.wrap(error);
  };
}

async function applyAll<TResult>(
  statements: RowStatements,
  decisions: readonly Decision<TResult>[],
): Promise<TResult[]> {
  const results: TResult[] = [];
  let open = decisions.map((decision, index) => ({ decision, index }));
  for (let round = 0; open.length > 0; round++) {
    if (round === MAX_ROUNDS) throw new WriteConflictError();
    const { settled, lost } = await applyOnce(
      statements,
      open.map(({ decision }) => decision),
    );
    for (const [i, { index }] of open.entries()) {
      const outcome = settled[i]!;
      if (!lost.has(i) && outcome.ok) results[index] = outcome.result as TResult;
    }
    open = open.filter((_, i) => lost.has(i));
  }
  return results;
}

/** @returns the outcomes, and the indexes of the decisions that met a conflict over a row. */
async function applyOnce(
  statements: RowStatements,
  decisions: readonly Decision<unknown>[],
): Promise<{ settled: Settled[]; lost: Set<number> }> {
  const rows = new Map<string, RowId>();
  for (const decision of decisions) for (const row of decision.rows) rows.set(rowKey(row), row);
  // Lock in the same order everywhere, so that two transactions queue up instead of
  // deadlocking.
  const ids = [...rows.keys()].sort();
  const states = await statements.read(ids.map((id) => rows.get(id)!));
  const { settled, groups } = planWrites(decisions, states);
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
  return { settled, lost };
}
