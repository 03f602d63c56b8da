/**
 * Leaves a connection of Prisma's adapter for libsql on which writes would be lost.
 *
 * On a file, a statement that libsql answers with SQLITE_BUSY stays open on its connection. Later
 * writes on that connection seem to succeed, but are not committed: tokens that were granted would
 * be there again. This was seen with `@libsql/client` 0.17.4. The client opens another connection
 * after a transaction, so an empty transaction is enough.
 *
 * Measured and rejected: an interactive transaction for each write. Its COMMIT fails on such a
 * connection, but the adapter does not roll back then, and the file stays locked.
 */
import type { SqlConnection } from "../../sql/driver.js";
import { isBusy } from "../../sql/sqlite/errors.js";
import type { ClientInternals, PrismaLike } from "./prisma-client.js";

export function isLibsql(adapterName: unknown): boolean {
  return typeof adapterName === "string" && adapterName.includes("libsql");
}

/** @param connection runs statements on the client, outside of transactions. */
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
      // Its COMMIT fails, but the client has left the connection by then.
      if (isBusy(error)) await transact(async () => {}).catch(() => {});
      throw error;
    }
  }
  return {
    query: (...query) => guard(() => connection.query(...query)),
    execute: (...query) => guard(() => connection.execute(...query)),
  };
}
