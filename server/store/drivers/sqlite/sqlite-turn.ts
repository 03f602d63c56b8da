/**
 * One user of the database at a time, among the statements and the transactions of a store. SQLite has
 * one writer. A synchronous client waits for the writer by blocking the event loop, and then a
 * transaction of the same process could not go on to its end.
 */
import { UnsentError } from "../../row-access.js";
import { createSemaphore } from "../../transactions/semaphore.js";
import type { DriverTransactionOptions } from "../../sql/driver.js";
import { MAX_WAIT, TIMEOUT, within } from "../../transactions/time-limits.js";
import { SqliteBusyError } from "./sqlite-connection.js";

/** How long a statement waits for its turn before the wait counts as a conflict, ms. */
const STATEMENT_WAIT = 10_000;

export interface SqliteTurn {
  /** Whether a statement would not have to wait. */
  readonly isFree: boolean;
  /** @param isWanted see `SqlConnection.query` */
  statement<TResult>(
    run: () => TResult | Promise<TResult>,
    isWanted?: () => boolean,
  ): Promise<TResult>;
  transaction<TResult>(
    options: Pick<DriverTransactionOptions, "maxWait" | "timeout">,
    run: (bound: Bound) => Promise<TResult>,
  ): Promise<TResult>;
}

/** Rejects when the time of the transaction is over, even if `work` never ends. */
export type Bound = <TResult>(work: Promise<TResult>) => Promise<TResult>;

export function createSqliteTurn(): SqliteTurn {
  const semaphore = createSemaphore(1);

  async function inTurn<TResult>(maxWait: number, run: () => TResult | Promise<TResult>) {
    const leave = await semaphore.acquire(
      maxWait,
      () => new SqliteBusyError(`other transactions were open for ${maxWait} ms`),
    );
    try {
      return await run();
    } finally {
      leave();
    }
  }

  return {
    get isFree() {
      return semaphore.isFree;
    },
    statement: (run, isWanted) =>
      inTurn(STATEMENT_WAIT, () => {
        if (isWanted !== undefined && !isWanted()) throw new UnsentError();
        return run();
      }),
    transaction: ({ maxWait = MAX_WAIT, timeout = TIMEOUT }, run) =>
      inTurn(maxWait, () =>
        run((work) =>
          within(work, timeout, () => new Error(`the transaction took longer than ${timeout} ms`)),
        ),
      ),
  };
}
