/** PostgreSQL, MySQL and MariaDB through Bun's own client, `Bun.sql` or a `new SQL()`. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlConnection, SqlRow, TransactionDriver } from "../../sql/driver.js";
import { DIALECTS } from "../../sql/dialects.js";
import { renewingTexts } from "../prepared-texts.js";
import { LEVELS, ROLLED_BACK, runOnLent } from "../pools/bounded-transactions.js";
import { byPromise, type Connections } from "../pools/connections.js";
import { ReadOnlyConnections } from "../pools/read-only-connections.js";
import type { BunSqlExecutor, BunSqlLike, BunSqlReserved, BunSqlResult } from "./bun-sql-client.js";
import { createBunSqlConnections } from "./bun-sql-connections.js";

export type BunSqlDialect = "postgresql" | "mysql";

/** @param sql was checked by `checkBunSql`. */
export function bunSqlDriver(
  sql: BunSqlLike,
  dialect: BunSqlDialect,
): TransactionDriver<BunSqlExecutor> {
  const connections = createBunSqlConnections(sql);
  const readOnly = new ReadOnlyConnections();
  const connectionOf = CONNECTIONS[dialect];
  return {
    dialect,
    ...renewingTexts(
      connectionOf((text, params, isWanted) =>
        connections.runAlone(
          byPromise((reserved) => reserved.unsafe(text, params)),
          (answer): unknown => answer,
          isWanted,
        ),
      ),
      DIALECTS[dialect].errors.isUnprepared,
    ),
    within(tx) {
      const { unsafe } = Object(tx) as Partial<BunSqlExecutor>;
      // A reserved connection has `release`, and a transaction has `savepoint`. The pool has neither,
      // and would send each statement on any of its connections. Drizzle begins on a reserved
      // connection.
      const isOne = "release" in Object(tx) || "savepoint" in Object(tx);
      if (!isOne || typeof unsafe !== "function") {
        const expected = "what sql.begin() passes to its function";
        throw new RateLimitConfigError("tx", tx, expected);
      }
      return connectionOf((text, params) => readOnly.noting(tx, tx.unsafe(text, params)));
    },
    isExhausted: () => connections.isExhausted(),
    transaction: createTransactions(dialect, connections, readOnly),
  };
}

type Run = (text: string, params: unknown[], isWanted?: () => boolean) => Promise<unknown>;

const CONNECTIONS: Record<BunSqlDialect, (run: Run) => SqlConnection> = {
  postgresql(run) {
    const send: Run = (text, params, isWanted) =>
      run(castToText(text), params.map(asText), isWanted);
    return {
      query: async (text, params, isWanted) =>
        (await send(text, [...params], isWanted)) as SqlRow[],
      execute: async (text, params, isWanted) =>
        ((await send(text, [...params], isWanted)) as BunSqlResult).count,
    };
  },
  mysql: (run) => ({
    query: async (text, params, isWanted) => (await run(text, [...params], isWanted)) as SqlRow[],
    execute: async (text, params, isWanted) =>
      ((await run(text, [...params], isWanted)) as BunSqlResult).affectedRows,
  }),
};

/**
 * Sends a number as text. Bun declares a whole number as an integer, and any other number as a double.
 * So PostgreSQL would divide integers, and would prepare a statement anew for each combination.
 * PostgreSQL finds the type of a text by itself, and reads the number from the text to the last bit.
 */
function asText(param: unknown): unknown {
  return typeof param === "number" ? String(param) : param;
}

/** Bun would turn a text of JSON into a JSON string. */
function castToText(text: string): string {
  return text.replaceAll(/(\$\d+)::jsonb\b/g, "$1::text::jsonb");
}

/** After an error, PostgreSQL answers a COMMIT with ROLLBACK. */
const COMMIT_ROLLED_BACK = "ERR_POSTGRES_COMMIT_ROLLED_BACK";

function createTransactions(
  dialect: BunSqlDialect,
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

type RunInside<TResult> = (tx: BunSqlExecutor) => Promise<TResult>;
/** Bun begins and ends transactions by itself. */
type Begin = <TResult>(
  reserved: BunSqlReserved,
  level: string,
  run: RunInside<TResult>,
) => Promise<TResult>;

const BEGIN: Record<BunSqlDialect, Begin> = {
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
  run: RunInside<TResult>,
  begin: (run: RunInside<void>) => Promise<unknown>,
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
    // Leave the cause out: its message would hide what to do.
    throw code === COMMIT_ROLLED_BACK ? new Error(ROLLED_BACK) : cause;
  }
  return (ended as { result: TResult }).result;
}
