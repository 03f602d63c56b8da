/** Prisma's adapter for libsql, on a file that is busy: single statements, and transactions. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isBusy } from "../../sql/sqlite/errors.js";
import type { SqlConnection } from "../../sql/driver.js";
import type { ClientInternals, PrismaLike, PrismaRaw } from "./prisma-client.js";

export function isLibsql(adapterName: unknown): boolean {
  return typeof adapterName === "string" && adapterName.includes("libsql");
}

/**
 * Leaves a connection on which writes would be lost.
 *
 * On a file, a statement that libsql answers with SQLITE_BUSY stays open on its connection. Later
 * writes on that connection seem to succeed, but are not committed: tokens that were granted would be
 * there again. Such losses were seen with `@libsql/client` 0.17.4. The client opens another connection
 * after a transaction, so an empty transaction is enough.
 *
 * Measured and rejected: an interactive transaction for each write. The COMMIT of such a transaction
 * fails on such a connection, but the adapter does not roll back then, and the file stays locked.
 *
 * @param connection runs statements on the client, outside of transactions.
 */
export function leavingBusy(connection: SqlConnection, prisma: PrismaLike): SqlConnection {
  const { _engineConfig: config } = prisma as ClientInternals;
  if (!isLibsql(config?.adapter?.adapterName)) return connection;
  const transact = prisma.$transaction.bind(prisma) as (
    run: () => Promise<void>,
  ) => Promise<unknown>;
  async function guard<TResult>(run: () => Promise<TResult>): Promise<TResult> {
    try {
      return await run();
    } catch (error) {
      // The COMMIT of the empty transaction fails, but by then the client has left the connection.
      if (isBusy(error)) await transact(async () => {}).catch(() => {});
      throw error;
    }
  }
  return {
    query: (...query) => guard(() => connection.query(...query)),
    execute: (...query) => guard(() => connection.execute(...query)),
  };
}

const READ =
  "another connection was reading when a transaction committed, and Prisma's adapter keeps the file " +
  "locked now; run PRAGMA journal_mode = WAL once, which the file remembers, and restart the process";

/**
 * A transaction on a file that other processes write to.
 *
 * The adapter begins with a plain BEGIN. A transaction that reads first meets SQLITE_BUSY at its first
 * write if another transaction is ahead of it, however long the time-out is. Such a statement stays
 * open and keeps its lock until it is collected as garbage: no process could write any more. So the
 * first statement asks for the lock of the writer. If the lock is refused, the transaction holds
 * nothing. The statement does not wait for the lock: a wait blocks the process, and another transaction
 * of this process may hold the lock.
 *
 * Without WAL, COMMIT is answered SQLITE_BUSY while another connection reads, and then the adapter
 * keeps the file locked. Neither a ROLLBACK nor `$disconnect` unlocks the file, so the error says what
 * to do.
 *
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

/**
 * The connection is the transaction's own, so its time-out need not be put back if the lock is refused.
 */
async function lockAtOnce(tx: PrismaRaw, table: string): Promise<void> {
  const waits = (await busyTimeout(tx)) ?? 0;
  const isBounded = waits > 0 && (await busyTimeout(tx, 0)) !== undefined;
  await tx.$executeRawUnsafe(`UPDATE ${table} SET "ts" = "ts" WHERE 0`);
  if (isBounded) await busyTimeout(tx, waits);
}

/**
 * Reads the busy time-out, ms, or sets it. `undefined` over HTTP, where a server may refuse to read or
 * to set it.
 */
async function busyTimeout(tx: PrismaRaw, ms?: number): Promise<number | undefined> {
  try {
    const value = ms === undefined ? "" : ` = ${ms}`;
    const [row] = (await tx.$queryRawUnsafe(`PRAGMA busy_timeout${value}`)) as {
      timeout?: unknown;
    }[];
    return Number(row?.timeout ?? 0);
  } catch {
    return undefined;
  }
}
