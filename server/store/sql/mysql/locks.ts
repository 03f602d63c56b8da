/**
 * The means of MySQL and MariaDB, beside their statements, by which calls and transactions wait for the
 * locks of their own rows only, and not for long.
 */
import { rowKey, type RowId } from "../../store.js";
import type { Connection } from "../connection.js";
import type { MysqlEngine } from "./engines.js";

/**
 * Goes before a statement of MariaDB: how long the statement may wait for one lock. MySQL and MariaDB
 * take whole seconds, and their default is 50 s.
 */
export const BRIEFLY = "SET STATEMENT innodb_lock_wait_timeout = 1 FOR ";

/** The same bound on MySQL, which can only bound the whole session. */
const BEGIN_BRIEFLY =
  "SET @rate_limit_lock_wait = @@innodb_lock_wait_timeout, innodb_lock_wait_timeout = 1";
const END_BRIEFLY = "SET innodb_lock_wait_timeout = @rate_limit_lock_wait";

/**
 * Bounds the waits of a statement for locks, except inside a transaction that its owner might not
 * retry.
 *
 * @param run sends the statement, with `prefix` before its text.
 */
export async function waitingBriefly<TResult>(
  connection: Connection,
  { boundsStatements }: MysqlEngine,
  run: (connection: Connection, prefix: string) => Promise<TResult>,
): Promise<TResult> {
  const { locking, isSingle, transaction } = connection;
  if (locking.patience === "unbounded") return run(connection, "");
  if (boundsStatements) return run(connection, BRIEFLY);
  // Without transactions, the statements of a session cannot be kept together.
  if (isSingle) return run(connection, "");
  const inSession = async (tx: Connection) => {
    await tx.execute(BEGIN_BRIEFLY, []);
    try {
      return await run(tx, "");
    } finally {
      // This statement fails only if the connection is lost, and then its session is lost, too.
      await tx.execute(END_BRIEFLY, []).catch(() => {});
    }
  };
  return transaction === undefined ? inSession(connection) : transaction(inSession);
}

/** How long a row counts as seen, ms. */
const SEEN_FOR = 1000;
/** The most rows to remember. */
const MAX_SEEN = 10_000;

/** The rows that transactions have met lately, and that probably still exist. */
export interface SeenRows {
  has(row: RowId): boolean;
  /** Notes whether a row was there. */
  note(row: RowId, exists: boolean): void;
}

/** @param now monotonic ms. */
export function createSeenRows(now: () => number = () => performance.now()): SeenRows {
  const seenAt = new Map<string, number>();
  return {
    has: (row) => now() - (seenAt.get(rowKey(row)) ?? -Infinity) < SEEN_FOR,
    note(row, exists) {
      if (!exists) {
        seenAt.delete(rowKey(row));
        return;
      }
      if (seenAt.size >= MAX_SEEN) seenAt.clear();
      seenAt.set(rowKey(row), now());
    },
  };
}
