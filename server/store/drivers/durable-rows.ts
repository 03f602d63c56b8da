/** The rows of limits in a Durable Object, without an `await`. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { RowsAtOnce } from "../at-once.js";
import { quotedTable, type TableName } from "../sql/sql.js";
import type { RowId } from "../store.js";
import type { DurableStorageLike } from "./durable-storage.js";

type Cursor = ReturnType<DurableStorageLike["sql"]["exec"]>;

/** Call `get` and `put` in a transaction. */
export interface DurableRows extends RowsAtOnce {
  /** Creates the table, if there is none of its name. */
  create(): void;
}

/** @param table quoted. */
export function durableRows(
  exec: (text: string, params: readonly unknown[]) => Cursor,
  table: string,
): DurableRows {
  const WHERE = `WHERE "name" = ? AND "key" = ? AND "shard" = ?`;
  const READ = `SELECT "value", "ts" FROM ${table} ${WHERE}`;
  const DELETE = `DELETE FROM ${table} ${WHERE}`;
  const PUT = `INSERT OR REPLACE INTO ${table} ("name", "key", "shard", "value", "ts") VALUES (?, ?, ?, ?, ?)`;
  // As in the package's migration for SQLite.
  const CREATE = `CREATE TABLE IF NOT EXISTS ${table} (
    "name" TEXT NOT NULL, "key" TEXT NOT NULL DEFAULT '', "shard" INTEGER NOT NULL DEFAULT 0,
    "value" REAL NOT NULL, "ts" REAL NOT NULL, PRIMARY KEY ("name", "key", "shard")
  )`;

  return {
    create: () => void exec(CREATE, []),
    get(row) {
      const [found] = exec(READ, idOf(row)).toArray() as [RateLimitState?];
      return found === undefined ? null : { value: found.value, ts: found.ts };
    },
    put(row, next) {
      if (next === null) exec(DELETE, idOf(row));
      else exec(PUT, [...idOf(row), next.value, next.ts]);
    },
  };
}

function idOf({ name, key, shard }: RowId): [string, string, number] {
  return [name, key, shard];
}

/** Creates the table of overrides, if there is none of its name. */
export function createDurableOverrides(
  exec: (text: string, params: readonly unknown[]) => Cursor,
  table: TableName,
): void {
  // As in the package's migration for SQLite.
  const columns = `"name" TEXT NOT NULL, "key" TEXT NOT NULL DEFAULT '', "rule" TEXT NOT NULL,
    "until" REAL NOT NULL, "setAt" REAL NOT NULL, PRIMARY KEY ("name", "key")`;
  exec(`CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (${columns})`, []);
}
