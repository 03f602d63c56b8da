/**
 * The CPU of the threads of a server that answer the connections to a database, from `/proc` of Linux.
 * `schedstat` counts the same time as utime and stime of `stat`, in ns instead of ticks of 10 ms. The
 * work of other threads of the server, such as checkpoints, is not counted.
 */
import { readFile } from "node:fs/promises";
import { Redis } from "ioredis";
import mysql from "mysql2/promise";
import { connectPool, type DatabaseName, isRedis } from "./databases.js";

/** The CPU of each thread since the thread began, µs, by the id of the thread. */
export type ServerCpu = ReadonlyMap<number, number>;

/** `undefined` where there is no `/proc`, or where the server does not run on this machine. */
export async function serverCpu(
  database: DatabaseName,
  url: string,
): Promise<ServerCpu | undefined> {
  const threads = await threadsOf(database, url);
  const seen = new Map<number, number>();
  for (const id of threads) {
    const cpu = await cpuOf(id);
    // A connection may have ended since it was listed.
    if (cpu !== undefined) seen.set(id, cpu);
  }
  return seen.size > 0 ? seen : undefined;
}

/** The CPU between two readings, µs. A thread that began in between counts from its beginning. */
export function spentBetween(before: ServerCpu, after: ServerCpu): number {
  let spent = 0;
  for (const [id, cpu] of after) spent += cpu - (before.get(id) ?? 0);
  return spent;
}

const SERVERS = /postgres|mysqld|mariadbd|redis-server|valkey-server/;

async function cpuOf(id: number): Promise<number | undefined> {
  try {
    // The ids of a server in a container may be the ids of other processes outside of the container.
    if (!SERVERS.test(await readFile(`/proc/${id}/cmdline`, "utf8"))) return undefined;
    const statistics = await readFile(`/proc/${id}/task/${id}/schedstat`, "utf8");
    return Number(statistics.split(" ")[0]) / 1000;
  } catch {
    return undefined;
  }
}

/**
 * The threads of all connections to the database, without the connection that asks. Other databases do
 * not count.
 */
async function threadsOf(database: DatabaseName, url: string): Promise<number[]> {
  if (isRedis(database)) return threadsOfRedis(url);
  if (database === "postgresql") return threadsOfPostgres(url);
  if (database === "mysql") return threadsOfMysql(url);
  throw new Error(`${database} has no server`);
}

async function threadsOfPostgres(url: string): Promise<number[]> {
  const pool = connectPool(url);
  const { rows } = await pool.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND datname = current_database()
    AND pid <> pg_backend_pid()`);
  await pool.end();
  return rows.map(({ pid }) => pid);
}

async function threadsOfMysql(url: string): Promise<number[]> {
  const connection = await mysql.createConnection(url);
  const [versions] = await connection.query("SELECT VERSION() AS version");
  const { version } = (versions as { version: string }[])[0]!;
  const [rows] = await connection.query(
    version.includes("MariaDB")
      ? `SELECT TID AS id FROM information_schema.PROCESSLIST
         WHERE DB = DATABASE() AND ID <> CONNECTION_ID()`
      : `SELECT THREAD_OS_ID AS id FROM performance_schema.threads
         WHERE PROCESSLIST_DB = DATABASE() AND PROCESSLIST_ID <> CONNECTION_ID()`,
  );
  await connection.end();
  return (rows as { id: number }[]).map(({ id }) => id);
}

/** Redis runs commands in its main thread. */
async function threadsOfRedis(url: string): Promise<number[]> {
  const redis = new Redis(url);
  const info = await redis.info("server");
  await redis.quit();
  return [Number(/process_id:(\d+)/.exec(info)?.[1])];
}
