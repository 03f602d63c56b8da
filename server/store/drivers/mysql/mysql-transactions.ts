/** Transactions on one connection of a pool of `mysql2/promise` or `mariadb`. */
import { startTimer } from "../../../timers/timer.js";
import type { TransactionDriver } from "../../sql/driver.js";
import type { Connections } from "../pools/connections.js";
import type { MysqlConnectionLike } from "./mysql-client.js";
import { releaseMysql } from "./mysql-connections.js";
import type { ReadOnlyConnections } from "../pools/read-only-connections.js";
import { MAX_WAIT, TIMEOUT } from "../../transactions/time-limits.js";
import { LEVELS } from "../pools/transaction-levels.js";

export function createMysqlTransactions(
  { borrow, forget }: Pick<Connections<MysqlConnectionLike>, "borrow" | "forget">,
  readOnly: ReadOnlyConnections,
): TransactionDriver<MysqlConnectionLike>["transaction"] {
  return async (run, { isolationLevel, timeout = TIMEOUT, maxWait = MAX_WAIT }) => {
    const connection = await borrow(maxWait);
    let isReleased = false;
    const release = (error?: Error) => {
      if (isReleased) return;
      isReleased = true;
      timer.stop();
      releaseMysql(connection, error);
      forget(connection);
    };
    let giveUp: (error: Error) => void = () => {};
    const timer = startTimer(() => {
      const late = new Error(`the transaction took longer than ${timeout} ms`);
      // The connection is closed, and the database rolls its transaction back.
      release(late);
      giveUp(late);
    }, timeout);

    async function work() {
      // `mariadb` sends both before the answer to the first one.
      await Promise.all([
        connection.query({ sql: `SET TRANSACTION ISOLATION LEVEL ${LEVELS[isolationLevel]}` }),
        connection.query({ sql: "START TRANSACTION" }),
      ]);
      const result = await run(connection);
      await connection.query({ sql: "COMMIT" });
      giveBack();
      return result;
    }

    function giveBack(cause?: unknown): void {
      const isRefused = readOnly.has(connection, cause);
      release(isRefused ? new Error("the connection is read-only") : undefined);
    }

    // A statement on a destroyed connection of `mysql2` may never settle.
    return new Promise((resolve, reject) => {
      giveUp = reject;
      work().then(resolve, async (error: unknown) => {
        await rollBack(error);
        reject(error);
      });
    });

    /**
     * Rolls back and gives the connection back. If that fails, or the connection is read-only, it
     * is closed.
     */
    async function rollBack(cause: unknown): Promise<void> {
      if (isReleased) return;
      try {
        await connection.query({ sql: "ROLLBACK" });
        giveBack(cause);
      } catch (error) {
        release(error instanceof Error ? error : new Error(String(error)));
      }
    }
  };
}
