/** Transactions on one connection of a client of Bun, which begins and ends them by itself. */
import type { TransactionDriver } from "../../sql/driver.js";
import type { BunSqlExecutor, BunSqlReserved } from "./bun-sql-client.js";
import { LEVELS, ROLLED_BACK, runOnLent } from "../pools/bounded-transactions.js";
import type { Connections } from "../pools/connections.js";
import type { ReadOnlyConnections } from "../pools/read-only-connections.js";

/** After an error, PostgreSQL answers a COMMIT with ROLLBACK. */
const COMMIT_ROLLED_BACK = "ERR_POSTGRES_COMMIT_ROLLED_BACK";

export function createBunSqlTransactions(
  dialect: "postgresql" | "mysql",
  connections: Connections<BunSqlReserved>,
  readOnly: ReadOnlyConnections,
): TransactionDriver<BunSqlExecutor>["transaction"] {
  return (run, { isolationLevel, ...bounds }) =>
    runOnLent(connections, bounds, async ({ client, giveBack }) => {
      let begun: object = client;
      try {
        const result = await BEGIN[dialect](client, LEVELS[isolationLevel], (tx) => {
          begun = tx;
          return run(tx);
        });
        giveBack(readOnly.errorOf(begun));
        return result;
      } catch (error) {
        giveBack(readOnly.errorOf(begun, error));
        throw error;
      }
    });
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
