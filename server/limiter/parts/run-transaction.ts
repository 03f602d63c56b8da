/** `transaction`: the operations in a transaction of the database, which the limiter owns. */
import type { OutageLog } from "../../report/logger.js";
import type { JoinedStore, RateLimitStore, RowId, TransactionOptions } from "../../store/store.js";
import { reportStoreError } from "../answers/store.js";
import type { Telling } from "../context/context.js";
import type { Crossed } from "../claims/warnings.js";
import { TransactionScope } from "../claims/receipt-entries.js";
import { unsupported } from "../types/unsupported.js";
import { PendingUsage } from "../usage/open-usage.js";

export interface TransactionContext {
  store: RateLimitStore;
  outage: OutageLog;
  /** The operations inside a transaction. */
  operations(
    tx: unknown,
    store: JoinedStore,
    changed: (row: RowId) => void,
    telling: Telling,
  ): object;
  /**
   * Called when the transaction has ended, committed or not. Listeners outside are told after it has
   * resolved.
   */
  ended: (() => Promise<void>) | undefined;
  /** Forgets the remembered denial of a row. */
  changed(row: RowId): void;
  /** Takes a turn of `autoPrune`, where there is no timer. */
  turn: (() => void) | undefined;
  /** The listeners outside the transaction. Changes and usage are told only after the commit. */
  telling: Telling;
}

export async function runTransaction<TResult>(
  { store, outage, operations, ended, changed, turn, telling }: TransactionContext,
  run: (scope: object) => Promise<TResult>,
  options: TransactionOptions,
): Promise<TResult> {
  if (store.transaction === undefined) throw unsupported(store, "transaction");
  const { endLeases } = telling;
  let changes: [name: string, key: string | undefined][] = [];
  let scope: TransactionScope | undefined;
  let usage: PendingUsage | undefined;
  let crossed: Crossed[] = [];
  const touched: RowId[] = [];
  const filled: RowId[] = [];
  const running = store.transaction(async (tx, transactionStore) => {
    // The changes of an earlier try were rolled back.
    changes = [];
    crossed = [];
    scope?.end("rolled back");
    const attempt = (scope = new TransactionScope());
    const counted = (usage = new PendingUsage(telling.usage, telling.environment.clock));
    const noteTouched = (row: RowId) => void touched.push(row);
    const inside = operations(tx, transactionStore, noteTouched, {
      onChange: (...change) => void changes.push(change),
      decisions: telling.decisions,
      // No turn is taken before the transaction has ended.
      turn: undefined,
      usage: counted,
      crossed: (levels) => void crossed.push(...levels),
      environment: { ...telling.environment, scope },
      endLeases(row) {
        endLeases(row);
        filled.push(row);
      },
    });
    const returned = await run({ ...inside, tx });
    attempt.isRun = true;
    return returned;
  }, options);
  // Also after a failure, because a commit may have lost its answer.
  const done = running.finally(() => {
    touched.forEach(changed);
    filled.forEach(endLeases);
    // No turn before this: the transaction may have held the only connection.
    turn?.();
  });
  let result: TResult;
  try {
    result = await done;
    scope?.end("committed");
    usage?.committed();
  } catch (error) {
    scope?.end(scope.isRun ? "unknown" : "rolled back");
    reportStoreError(outage, error);
    throw error;
  } finally {
    await ended?.();
  }
  // Tell only after the commit: before it, a reader would still find the old state.
  for (const change of changes) telling.onChange(...change);
  if (crossed.length > 0) telling.crossed(crossed);
  return result;
}
