/**
 * The rows of limits in a Durable Object, without an `await`. Nothing else runs between a read and
 * the write that was decided on it, so writes need no guard.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import { planWrites } from "../plan-writes.js";
import { quotedTable, type TableName } from "../sql/sql.js";
import { type Decision, rowKey, type RowId } from "../store.js";
import type { DurableStorageLike } from "./durable-storage.js";

type Cursor = ReturnType<DurableStorageLike["sql"]["exec"]>;

export interface DurableRows {
  /** Creates the table, if there is none of its name. */
  create(): void;
  /**
   * Applies decisions. Call it in a transaction.
   *
   * @throws DecisionError if one of the decisions throws. Nothing is written then.
   */
  apply<TResult>(decisions: readonly Decision<TResult>[]): TResult[];
}

/** Has the error of a decision, which is the caller's own, as its cause. */
export class DecisionError extends Error {
  override readonly name = "DecisionError";

  constructor(override readonly cause: unknown) {
    super("a decision has thrown");
  }
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

  function read(rows: readonly RowId[]): Map<string, RateLimitState> {
    const states = new Map<string, RateLimitState>();
    for (const row of rows) {
      const id = rowKey(row);
      if (states.has(id)) continue;
      const [found] = exec(READ, idOf(row)).toArray() as [RateLimitState?];
      if (found !== undefined) states.set(id, { value: found.value, ts: found.ts });
    }
    return states;
  }

  return {
    create: () => void exec(CREATE, []),
    apply<TResult>(decisions: readonly Decision<TResult>[]): TResult[] {
      const states = read(decisions.flatMap(({ rows }) => rows));
      const { settled, groups } = planWrites(decisions, states);
      const failed = settled.find((outcome) => !outcome.ok);
      if (failed !== undefined) throw new DecisionError(failed.error);
      for (const { row, next } of groups.flatMap(({ writes }) => writes)) {
        if (next === null) exec(DELETE, idOf(row));
        else exec(PUT, [...idOf(row), next.value, next.ts]);
      }
      return settled.map((outcome) => (outcome as { result: TResult }).result);
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
