/**
 * Transactions of Prisma's adapter for libsql, on a file that other processes write to.
 *
 * The adapter begins with a plain BEGIN. A transaction that reads first meets SQLITE_BUSY at its first
 * write if another one is ahead of it, however long the time-out is. Such a statement stays open and
 * keeps its lock until it is collected as garbage: no process could write any more. So the first
 * statement asks for the lock of the writer. If that is refused, it holds nothing. It does not wait,
 * because a wait blocks the process, and the lock may be held by another transaction of the process.
 *
 * Without WAL, COMMIT is answered SQLITE_BUSY while another connection reads, and then the adapter
 * keeps the file locked. Neither a ROLLBACK nor `$disconnect` ends that, so the error says what to do.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isBusy } from "../../sql/sqlite/errors.js";
import type { PrismaRaw } from "./prisma-client.js";

const READ =
  "another connection was reading when a transaction committed, and Prisma's adapter keeps the file " +
  "locked now; run PRAGMA journal_mode = WAL once, which the file remembers, and restart the process";

/**
 * @param transact runs its argument in a transaction of Prisma.
 * @param table quoted; any table of the file with a column `ts`.
 */
export async function libsqlTransaction<TTransaction, TResult>(
  transact: (body: (tx: TTransaction) => Promise<TResult>) => Promise<TResult>,
  run: (tx: TTransaction) => Promise<TResult>,
  table: string,
): Promise<TResult> {
  let isCommitting = false;
  try {
    return await transact(async (tx) => {
      await lockAtOnce(tx as PrismaRaw, table);
      const result = await run(tx);
      isCommitting = true;
      return result;
    });
  } catch (error) {
    if (!isCommitting || !isBusy(error)) throw error;
    throw new RateLimitConfigError("journal_mode", undefined, { message: READ });
  }
}

/** The connection is the transaction's own, so nothing has to be put back if the lock is refused. */
async function lockAtOnce(tx: PrismaRaw, table: string): Promise<void> {
  const waits = (await timeoutOf(tx)) ?? 0;
  if (waits > 0) await tx.$queryRawUnsafe("PRAGMA busy_timeout = 0");
  await tx.$executeRawUnsafe(`UPDATE ${table} SET "ts" = "ts" WHERE 0`);
  if (waits > 0) await tx.$queryRawUnsafe(`PRAGMA busy_timeout = ${waits}`);
}

/** Over HTTP there is none, and the statement may be refused. */
async function timeoutOf(tx: PrismaRaw): Promise<number | undefined> {
  try {
    const [row] = (await tx.$queryRawUnsafe("PRAGMA busy_timeout")) as { timeout?: unknown }[];
    return Number(row?.timeout ?? 0);
  } catch {
    return undefined;
  }
}
