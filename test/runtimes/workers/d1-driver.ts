/** D1 through `sqlStore`, as an application could write it. */
import type { SqlDriver, SqlRow } from "../../../server/index.js";

export interface D1Like {
  prepare(text: string): {
    bind(...params: unknown[]): {
      all(): Promise<{ results: SqlRow[] }>;
      run(): Promise<{ meta: { changes: number } }>;
    };
  };
}

export function d1Driver(db: D1Like): SqlDriver<never> {
  const bound = (text: string, params: readonly unknown[]) =>
    // D1 refuses this function.
    db.prepare(text.replace("sqlite_version()", "'3.45.0'")).bind(...params);
  return {
    dialect: "sqlite",
    database: db,
    query: async (text, params) => (await bound(text, params).all()).results,
    execute: async (text, params) => (await bound(text, params).run()).meta.changes,
    within: (tx) => tx,
  };
}
