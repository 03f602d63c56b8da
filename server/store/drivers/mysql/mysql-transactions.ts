/** Transactions on one connection of a pool of `mysql2/promise` or `mariadb`. */
import type { TransactionDriver } from "../../sql/driver.js";
import { type Lent, LEVELS, runOnLent } from "../pools/bounded-transactions.js";
import type { Connections } from "../pools/connections.js";
import { asError } from "../pools/lending.js";
import type { ReadOnlyConnections } from "../pools/read-only-connections.js";
import type { MysqlConnectionLike } from "./mysql-client.js";

export function createMysqlTransactions(
  connections: Connections<MysqlConnectionLike>,
  readOnly: ReadOnlyConnections,
): TransactionDriver<MysqlConnectionLike>["transaction"] {
  return (run, { isolationLevel, ...bounds }) =>
    runOnLent(connections, bounds, async (lent) => {
      const { client } = lent;
      try {
        // `mariadb` sends both before the answer to the first one.
        await Promise.all([
          client.query({ sql: `SET TRANSACTION ISOLATION LEVEL ${LEVELS[isolationLevel]}` }),
          client.query({ sql: "START TRANSACTION" }),
        ]);
        const result = await run(client);
        await client.query({ sql: "COMMIT" });
        lent.giveBack(readOnly.errorOf(client));
        return result;
      } catch (error) {
        await rollBack(lent, readOnly, error);
        throw error;
      }
    });
}

/**
 * Rolls back and gives the connection back. If that fails, or the connection is read-only, it is
 * closed.
 */
async function rollBack(
  lent: Lent<MysqlConnectionLike>,
  readOnly: ReadOnlyConnections,
  cause: unknown,
): Promise<void> {
  if (lent.isOver) return;
  try {
    await lent.client.query({ sql: "ROLLBACK" });
    lent.giveBack(readOnly.errorOf(lent.client, cause));
  } catch (error) {
    lent.giveBack(asError(error));
  }
}
