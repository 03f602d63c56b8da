/**
 * Transactions of Prisma's adapters for SQLite, on a file that other processes write to.
 *
 * The adapters begin with a plain BEGIN. A transaction that reads first can meet SQLITE_BUSY at any
 * write, however long the time-out is. In the adapter for libsql, such a statement stays open and
 * keeps its lock until it is collected as garbage: no process could write any more. So the first
 * statement asks for the lock of the writer. If that is refused, it holds nothing.
 *
 * Without WAL, COMMIT is answered SQLITE_BUSY while another connection reads, and then the adapter
 * keeps the file locked. Neither a ROLLBACK nor `$disconnect` ends that, so the error says what to do.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import { isBusy } from "../sql/database-errors.js";
import type { PrismaRaw } from "./prisma-client.js";

const READ =
  "another connection was reading when a transaction committed, and Prisma's adapter keeps the file " +
  "locked now; run PRAGMA journal_mode = WAL once, which the file remembers, and restart the process";

/**
 * @param transact runs its argument in a transaction of Prisma.
 * @param table quoted; any table of the file with a column `ts`.
 */
export async function sqliteTransaction<TTransaction, TResult>(
  transact: (body: (tx: TTransaction) => Promise<TResult>) => Promise<TResult>,
  run: (tx: TTransaction) => Promise<TResult>,
  table: string,
): Promise<TResult> {
  let isCommitting = false;
  try {
    return await transact(async (tx) => {
      const sql = `UPDATE ${table} SET "ts" = "ts" WHERE 0`;
      await (tx as PrismaRaw).$executeRawUnsafe(sql);
      const result = await run(tx);
      isCommitting = true;
      return result;
    });
  } catch (error) {
    if (!isCommitting || !isBusy(error)) throw error;
    throw new RateLimitConfigError("journal_mode", undefined, { message: READ });
  }
}
