/** Bounds transactions of clients and libraries that have no bound of their own, and begins them. */
import { startTimer } from "../../../timers/timer.js";
import type { DriverTransactionOptions } from "../../sql/driver.js";
import { MAX_WAIT, TIMEOUT } from "../../transactions/time-limits.js";
import type { Connections } from "./connections.js";

/** The isolation levels in SQL. */
export const LEVELS: Record<DriverTransactionOptions["isolationLevel"], string> = {
  ReadCommitted: "READ COMMITTED",
  Serializable: "SERIALIZABLE",
};

/** A connection that a pool has lent to a transaction. */
export interface Lent<TClient> {
  readonly client: TClient;
  /** Whether the connection was closed, because the time was over. */
  readonly isOver: boolean;
  /** @param error closes the connection instead of giving it back. */
  giveBack(error?: Error): void;
}

/**
 * Lends a connection to `work`, which gives it back. When the time is over, the connection is closed,
 * and the database rolls its transaction back. The promises that `work` waits for may never settle
 * then.
 */
export async function runOnLent<TClient extends object, TResult>(
  connections: Connections<TClient>,
  { timeout = TIMEOUT, maxWait = MAX_WAIT }: Pick<DriverTransactionOptions, "timeout" | "maxWait">,
  work: (lent: Lent<TClient>) => Promise<TResult>,
): Promise<TResult> {
  const client = await connections.borrow(maxWait);
  return new Promise((resolve, reject) => {
    let isGivenBack = false;
    const giveBack = (error?: Error) => {
      if (isGivenBack) return;
      isGivenBack = true;
      timer.stop();
      connections.giveBack(client, error);
    };
    const lent = { client, isOver: false, giveBack };
    const timer = startTimer(() => {
      const late = new Error(`the transaction took longer than ${timeout} ms`);
      lent.isOver = true;
      giveBack(late);
      reject(late);
    }, timeout);
    work(lent).then(resolve, reject);
  });
}

/**
 * Bounds a transaction of a library. A late transaction is rolled back at its end, and not earlier: the
 * library would then give its connection back to the pool, and statements that the application still
 * sends would run outside of the transaction.
 *
 * @param timeout ms
 * @param beforeCommit rejects if the transaction cannot be committed.
 */
export function runBounded<TTransaction, TResult>(
  run: (tx: TTransaction) => Promise<TResult>,
  timeout: number = TIMEOUT,
  beforeCommit?: (tx: TTransaction) => Promise<void>,
): (tx: TTransaction) => Promise<TResult> {
  return async (tx) => {
    const begunAt = performance.now();
    const result = await run(tx);
    await beforeCommit?.(tx);
    if (performance.now() - begunAt > timeout) {
      throw new Error(`the transaction took longer than ${timeout} ms`);
    }
    return result;
  };
}

/** PostgreSQL answers so to all statements of a transaction after one of them has failed. */
const ABORTED = "25P02";
export const ROLLED_BACK =
  "the transaction was rolled back, because one of its statements had failed; rethrow its error";

/**
 * Rejects if a transaction of PostgreSQL can no longer be committed. The COMMIT would roll the
 * transaction back without an error, and most libraries do not notice.
 *
 * @param ping runs any statement in the transaction.
 */
export async function checkNotAborted(ping: () => Promise<unknown>): Promise<void> {
  try {
    await ping();
  } catch (error) {
    const { code, errno, cause } = error as { code?: unknown; errno?: unknown; cause?: unknown };
    const codes = [code, errno, (cause as { code?: unknown } | undefined)?.code];
    throw codes.includes(ABORTED) ? new Error(ROLLED_BACK) : error;
  }
}
