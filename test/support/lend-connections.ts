/** An application that holds all connections of its pool, for as long as a test needs. */
import { expect } from "vitest";
import type { MysqlClient, PostgresClient } from "./clients.js";
import type { TestDatabase } from "./database.js";

const POSTGRESQL = {
  hold: "SELECT pg_advisory_xact_lock(1)::text",
  release: "SELECT 1",
  wait: "SELECT pg_advisory_xact_lock(1)::text",
  waiting: `SELECT count(*) AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
};
// A lock is named after the database: names of locks are global to the server.
const MYSQL = {
  hold: "SELECT GET_LOCK(DATABASE(), 60)",
  release: "SELECT RELEASE_LOCK(DATABASE())",
  wait: "SELECT GET_LOCK(DATABASE(), 60), RELEASE_LOCK(DATABASE())",
  waiting: `SELECT COUNT(*) AS waiting FROM information_schema.PROCESSLIST
    WHERE DB = DATABASE() AND STATE = 'User lock'`,
};

/**
 * @param run runs a statement on one connection of the pool.
 * @param connections the size of the pool.
 * @returns a function that frees the connections, once the database has let all statements wait.
 */
export async function lendConnections(
  { url, prisma }: TestDatabase<MysqlClient> | TestDatabase<PostgresClient>,
  run: (sql: string) => Promise<unknown>,
  connections: number,
): Promise<() => Promise<void>> {
  const sql = new URL(url).protocol === "mysql:" ? MYSQL : POSTGRESQL;
  let free = () => {};
  const freed = new Promise<void>((resolve) => (free = resolve));
  let done: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    // TypeScript cannot call the union of the clients.
    const client = prisma as PostgresClient;
    done = client.$transaction(
      async (tx) => {
        await tx.$queryRawUnsafe(sql.hold);
        resolve();
        await freed;
        await tx.$queryRawUnsafe(sql.release);
      },
      { maxWait: 20_000, timeout: 60_000 },
    );
    done.catch(reject);
  });
  const waiting = Array.from({ length: connections }, () => run(sql.wait));
  const count = async () => {
    const [row] = await (prisma as PostgresClient).$queryRawUnsafe<{ waiting: bigint }[]>(
      sql.waiting,
    );
    return Number(row!.waiting);
  };
  await expect.poll(count, { timeout: 20_000 }).toBe(connections);
  return async () => {
    free();
    await Promise.all([done, ...waiting]);
  };
}
