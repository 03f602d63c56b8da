/** PostgreSQL, MySQL and MariaDB through Bun's own client, `Bun.sql` or a `new SQL()`. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlConnection, SqlRow, TransactionDriver } from "../../sql/driver.js";
import type { BunSqlExecutor, BunSqlLike, BunSqlResult } from "./bun-sql-client.js";
import { createBunSqlConnections } from "./bun-sql-connections.js";
import { createBunSqlTransactions } from "./bun-sql-transactions.js";
import { ReadOnlyConnections } from "../pools/read-only-connections.js";

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
    ...connectionOf((text, params, isWanted) =>
      connections.runAlone((reserved) => reserved.unsafe(text, params), isWanted),
    ),
    within(tx) {
      const { unsafe } = Object(tx) as Partial<BunSqlExecutor>;
      // The pool has neither: each statement would go to any of its connections. Drizzle begins on a
      // connection of `reserve`.
      const isOne = "release" in Object(tx) || "savepoint" in Object(tx);
      if (!isOne || typeof unsafe !== "function") {
        const expected = "what sql.begin() passes to its function";
        throw new RateLimitConfigError("tx", tx, expected);
      }
      return connectionOf((text, params) => readOnly.noting(tx, tx.unsafe(text, params)));
    },
    isExhausted: () => connections.isExhausted(),
    transaction: createBunSqlTransactions(dialect, connections, readOnly),
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
 * Bun declares a whole number as an integer and another one as a double. So PostgreSQL would divide
 * integers, and would prepare a statement anew for each combination. It finds the type of a text by
 * itself, and reads a number from it to the last bit.
 */
function asText(param: unknown): unknown {
  return typeof param === "number" ? String(param) : param;
}

/** Bun would turn a text of JSON into a JSON string. */
function castToText(text: string): string {
  return text.replaceAll(/(\$\d+)::jsonb\b/g, "$1::text::jsonb");
}
