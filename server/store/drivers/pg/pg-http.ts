/**
 * PostgreSQL over HTTP, by `neon()` of `@neondatabase/serverless`. Each statement is a request, and
 * there are no interactive transactions. The package does not import that module.
 */
import type { SqlDriver, SqlRow } from "../../sql/driver.js";
import { NoTransactionsError } from "../../sql/connection.js";

/** The function that `neon(url)` returns. */
export interface PgHttpLike {
  /** Runs one statement. */
  query(text: string, params?: never[], options?: never): PromiseLike<unknown>;
  /**
   * Runs statements that are known before, in one transaction. The package knows the client by this
   * method.
   */
  transaction(queries: never, options?: never): PromiseLike<unknown>;
}

export function isPgHttp(client: object): client is PgHttpLike {
  const { query, transaction } = Object(client) as Partial<PgHttpLike>;
  const isCallable = typeof client === "function" && typeof query === "function";
  return isCallable && typeof transaction === "function";
}

export function pgHttpDriver(sql: PgHttpLike): SqlDriver<never> {
  const run = (text: string, params: readonly unknown[]) =>
    // Ask for rows as objects, whatever the defaults of the application's function are.
    sql.query(
      text,
      params as never[],
      { arrayMode: false, fullResults: true } as never,
    ) as Promise<{
      rows: SqlRow[];
      rowCount: number | null;
    }>;
  const refuse = (): never => {
    throw new NoTransactionsError("using()");
  };
  return {
    dialect: "postgresql",
    // Each request may have a function of its own, because the function keeps no connection.
    query: async (text, params) => (await run(text, params)).rows,
    execute: async (text, params) => (await run(text, params)).rowCount ?? 0,
    within: refuse,
  };
}
