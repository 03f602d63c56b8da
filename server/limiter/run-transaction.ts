/** `transaction`: the operations in a transaction of the database, which the limiter owns. */
import type { OutageLog } from "../report/logger.js";
import type { RateLimitStore, RowId, TransactionOptions } from "../store/store.js";
import type { Context } from "./context.js";
import { reportStoreError } from "./executor.js";
import { TransactionScope } from "./receipt-entries.js";
import { unsupported } from "./unsupported.js";

/** What the operations of a transaction note instead of doing it at once. */
export type Noting = Partial<
  Pick<Context, "onChange" | "onDecision" | "environment" | "endLeases">
>;

export interface TransactionContext {
  store: RateLimitStore;
  outage: OutageLog;
  /** The operations inside a transaction. */
  inside(
    store: Pick<RateLimitStore, "apply">,
    noteChanged: (row: RowId) => void,
    noting: Noting,
  ): object;
  /** Ends what is remembered of a row. */
  changed(row: RowId): void;
  /** Takes a turn of `autoPrune`, where there is no timer. */
  prunes: (() => void) | undefined;
  /** `onDecision` as the caller gave it: no turn is taken before the transaction has ended. */
  shared: Pick<Context, "environment" | "endLeases" | "onChange" | "onDecision">;
}

export async function runTransaction(
  { store, outage, inside, changed, prunes, shared }: TransactionContext,
  run: (scope: object) => Promise<unknown>,
  options: TransactionOptions,
): Promise<unknown> {
  if (store.transaction === undefined) throw unsupported(store, "transaction");
  const { endLeases } = shared;
  let changes: [name: string, key: string | undefined][] = [];
  let scope: TransactionScope | undefined;
  const touched: RowId[] = [];
  const filled: RowId[] = [];
  const running = store.transaction(async (tx, transactionStore) => {
    // The changes of an earlier try were rolled back.
    changes = [];
    scope?.end("rolled back");
    const attempt = (scope = new TransactionScope());
    const noteTouched = (row: RowId) => void touched.push(row);
    const noting: Noting = {
      onChange: (...change) => void changes.push(change),
      onDecision: shared.onDecision,
      environment: { ...shared.environment, scope },
      endLeases(row) {
        endLeases(row);
        filled.push(row);
      },
    };
    const returned = await run({ ...inside(transactionStore, noteTouched, noting), tx });
    attempt.isRun = true;
    return returned;
  }, options);
  // Also if it fails, because a commit may have lost its answer.
  const ended = running.finally(() => {
    touched.forEach(changed);
    filled.forEach(endLeases);
    // Not before: the transaction may hold the only connection.
    prunes?.();
  });
  const result = await ended.catch((error: unknown) => {
    scope?.end(scope.isRun ? "unknown" : "rolled back");
    reportStoreError(outage, error);
    throw error;
  });
  scope?.end("committed");
  // After the commit: before it, a reader would still find the old state.
  for (const change of changes) shared.onChange(...change);
  return result;
}
