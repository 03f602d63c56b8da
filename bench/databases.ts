/**
 * The databases of the benchmark: `BENCH_POSTGRES_URL` and `BENCH_MYSQL_URL`, or the servers of this
 * machine, a SQLite file, and servers of Redis that are started for a scenario. Their tables are dropped
 * and made anew for each scenario.
 */
import { readdir, readFile, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { PrismaPg } from "@prisma/adapter-pg";
import mysql from "mysql2/promise";
import pg from "pg";
import { PrismaClient as SqliteClient } from "../prisma/generated/client/client.js";
import { PrismaClient as MysqlClient } from "../prisma/generated/mysql/client.js";
import { PrismaClient } from "./generated/client/client.js";
import { hasRedis, redisVersion } from "./redis-servers.js";

export type SqlDatabase = "postgresql" | "mysql" | "sqlite";
export type DatabaseName = SqlDatabase | "redis" | "redis cluster";

const POSTGRES = process.env["BENCH_POSTGRES_URL"] ?? "postgresql://root@127.0.0.1:5432/test";
const MYSQL = process.env["BENCH_MYSQL_URL"] ?? "mysql://root@127.0.0.1:3306/test";
const SQLITE = `file:${join(tmpdir(), "trpc-rate-limit-bench.db")}`;
export const urls: Record<SqlDatabase, string> = {
  postgresql: POSTGRES,
  mysql: MYSQL,
  sqlite: SQLITE,
};

/** Connections per contender and process; the default of `pg`. */
const POOL = 10;

export function connectPostgres(url: string): PrismaClient {
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: POOL }) });
}

export function connectPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: POOL });
  pool.on("error", (error) => console.warn(error));
  return pool;
}

export function connectMysql(url: string): MysqlClient {
  const { hostname, port, username, password, pathname } = new URL(url);
  const adapter = new PrismaMariaDb({
    host: hostname,
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    connectionLimit: POOL,
  });
  return new MysqlClient({ adapter });
}

export function connectSqlite(url: string): SqliteClient {
  return new SqliteClient({ adapter: new PrismaLibSql({ url, timeout: 5000 }) });
}

/** Creates empty tables. The tables of this package come from the migrations that users apply. */
export async function createTables(database: SqlDatabase): Promise<void> {
  if (database === "postgresql") {
    const pool = connectPool(POSTGRES);
    await pool.query(
      `DROP TABLE IF EXISTS "RateLimit", "RateLimitOverride", "RateLimiterFlexible", "Naive", "rlf"`,
    );
    for (const sql of await migrations("postgresql/migrations")) await pool.query(sql);
    await pool.query(`CREATE TABLE "RateLimiterFlexible" (
      "key" TEXT PRIMARY KEY, "points" INTEGER NOT NULL, "expire" TIMESTAMP(3))`);
    await pool.query(`CREATE TABLE "Naive" ("key" TEXT PRIMARY KEY, "value" INTEGER NOT NULL)`);
    return pool.end();
  }
  if (database === "mysql") {
    const connection = await mysql.createConnection(MYSQL);
    await connection.query("DROP TABLE IF EXISTS RateLimit, RateLimitOverride, rlf");
    for (const sql of await migrations("mysql/migrations")) await connection.query(sql);
    return connection.end();
  }
  for (const end of ["", "-wal", "-shm"]) await rm(`${SQLITE.slice(5)}${end}`, { force: true });
  const client = connectSqlite(SQLITE);
  await client.$queryRaw`PRAGMA journal_mode = WAL`;
  for (const sql of await migrations("migrations")) await client.$executeRawUnsafe(sql);
  await client.$disconnect();
}

async function migrations(folder: string): Promise<string[]> {
  const base = new URL(`../prisma/${folder}/`, import.meta.url);
  const names = (await readdir(base)).filter((name) => !name.includes(".")).sort();
  return Promise.all(names.map((name) => readFile(new URL(`${name}/migration.sql`, base), "utf8")));
}

/** The number that a query returns as `n`. */
export async function ask(database: SqlDatabase, sql: string): Promise<number> {
  if (database === "postgresql") {
    const pool = connectPool(POSTGRES);
    const { rows } = await pool.query<{ n: unknown }>(sql);
    await pool.end();
    return Number(rows[0]?.n ?? 0);
  }
  if (database === "mysql") {
    const connection = await mysql.createConnection(MYSQL);
    const [rows] = await connection.query(sql);
    await connection.end();
    return Number((rows as { n: unknown }[])[0]?.n ?? 0);
  }
  const client = connectSqlite(SQLITE);
  const rows = await client.$queryRawUnsafe<{ n: unknown }[]>(sql);
  await client.$disconnect();
  return Number(rows[0]?.n ?? 0);
}

export function isRedis(database: DatabaseName): database is "redis" | "redis cluster" {
  return database === "redis" || database === "redis cluster";
}

/** Whether there is a server to measure on. */
export async function isThere(database: DatabaseName): Promise<boolean> {
  if (database === "sqlite") return true;
  if (isRedis(database)) return hasRedis();
  const { hostname, port } = new URL(urls[database]);
  return new Promise((resolve) => {
    const socket = createConnection(Number(port), hostname);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

export async function describeServers(): Promise<string> {
  const pool = connectPool(POSTGRES);
  const { rows } = await pool.query<{ version: string }>(
    `SELECT current_setting('server_version') AS "version"`,
  );
  await pool.end();
  const servers = [`PostgreSQL ${rows[0]!.version.split(" ")[0]}`];
  if (await isThere("mysql")) {
    const connection = await mysql.createConnection(MYSQL);
    const [found] = await connection.query("SELECT VERSION() AS version");
    await connection.end();
    servers.push((found as { version: string }[])[0]!.version);
  }
  if (hasRedis()) servers.push(await redisVersion());
  return servers.join(", ");
}
