/** Transactions on one connection of a client of Bun, which begins and ends them by itself. */
import { startTimer } from "../../../timers/timer.js";
import type { TransactionDriver } from "../../sql/driver.js";
import { MAX_WAIT, TIMEOUT } from "../../transactions/time-limits.js";
import type { BunSqlExecutor, BunSqlReserved } from "./bun-sql-client.js";
import type { BunSqlConnections } from "./bun-sql-connections.js";
import type { ReadOnlyConnections } from "../pools/read-only-connections.js";
import { ROLLED_BACK } from "../pools/bounded-transactions.js";
import { LEVELS } from "../pools/transaction-levels.js";

/** After an error, PostgreSQL answers a COMMIT with ROLLBACK. */
const COMMIT_ROLLED_BACK = "ERR_POSTGRES_COMMIT_ROLLED_BACK";

export function createBunSqlTransactions(
  dialect: "postgresql" | "mysql",
  { borrow, forget, release }: BunSqlConnections,
  readOnly: ReadOnlyConnections,
): TransactionDriver<BunSqlExecutor>["transaction"] {
  return async (run, { isolationLevel, timeout = TIMEOUT, maxWait = MAX_WAIT }) => {
    const reserved = await borrow(maxWait);
    let isReleased = false;
    const giveBack = (error?: Error) => {
      if (isReleased) return;
      isReleased = true;
      timer.stop();
      release(reserved, error);
      forget(reserved);
    };
    let giveUp: (error: Error) => void = () => {};
    const timer = startTimer(() => {
      const late = new Error(`the transaction took longer than ${timeout} ms`);
      // The connection is closed, and the database rolls its transaction back.
      giveBack(late);
      giveUp(late);
    }, timeout);

    let begun: object = reserved;
    const end = (cause?: unknown) => {
      const isRefused = readOnly.has(begun, cause);
      giveBack(isRefused ? new Error("the connection is read-only") : undefined);
    };
    const work = BEGIN[dialect](reserved, LEVELS[isolationLevel], (tx) => {
      begun = tx;
      return run(tx);
    });
    // What `run` waits for may never settle.
    return new Promise((resolve, reject) => {
      giveUp = reject;
      work.then(
        (result) => {
          end();
          resolve(result);
        },
        (error: unknown) => {
          end(error);
          reject(error);
        },
      );
    });
  };
}

type Run<TResult> = (tx: BunSqlExecutor) => Promise<TResult>;
type Begin = <TResult>(
  reserved: BunSqlReserved,
  level: string,
  run: Run<TResult>,
) => Promise<TResult>;

const BEGIN: Record<"postgresql" | "mysql", Begin> = {
  postgresql: (reserved, level, run) =>
    keepError(run, (inTransaction) =>
      reserved.begin(`ISOLATION LEVEL ${level}`, inTransaction as never),
    ),
  async mysql(reserved, level, run) {
    await reserved.unsafe(`SET TRANSACTION ISOLATION LEVEL ${level}`);
    return keepError(run, (inTransaction) => reserved.begin("READ WRITE", inTransaction as never));
  },
};

/**
 * Rejects with the error of `run`, also when the ROLLBACK after it fails. The result is kept apart,
 * because Bun would await the items of an array.
 */
async function keepError<TResult>(
  run: Run<TResult>,
  begin: (run: Run<void>) => Promise<unknown>,
): Promise<TResult> {
  let ended: { result: TResult } | { error: unknown } | undefined;
  try {
    await begin(async (tx) => {
      try {
        ended = { result: await run(tx) };
      } catch (error) {
        ended = { error };
        throw error;
      }
    });
  } catch (cause) {
    if (ended !== undefined && "error" in ended) throw ended.error;
    const { code } = Object(cause) as { code?: unknown };
    // Without the cause, whose message would hide what to do.
    throw code === COMMIT_ROLLED_BACK ? new Error(ROLLED_BACK) : cause;
  }
  return (ended as { result: TResult }).result;
}
