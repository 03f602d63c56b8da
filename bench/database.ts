/** The PostgreSQL that everything is measured on: `BENCH_POSTGRES_URL`, or this machine's. */
import { readdir, readFile } from "node:fs/promises";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "./generated/client/client.js";

export const url = process.env["BENCH_POSTGRES_URL"] ?? "postgresql://root@127.0.0.1:5432/test";

/** Connections per contender and process; the default of `pg`. */
const POOL = 10;

export function connectPrisma(): PrismaClient {
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: POOL }) });
}

export function connectPool(): pg.Pool {
  return new pg.Pool({ connectionString: url, max: POOL });
}

/** Empty tables, ours from the migration that users apply. */
export async function createTables(): Promise<void> {
  const pool = connectPool();
  await pool.query(`DROP TABLE IF EXISTS "RateLimit", "RateLimiterFlexible", "Naive", "rlf"`);
  const migrations = new URL("../prisma/postgresql/migrations/", import.meta.url);
  const names = (await readdir(migrations)).filter((name) => !name.includes(".")).sort();
  for (const name of names) {
    await pool.query(await readFile(new URL(`${name}/migration.sql`, migrations), "utf8"));
  }
  await pool.query(`CREATE TABLE "RateLimiterFlexible" (
    "key" TEXT PRIMARY KEY, "points" INTEGER NOT NULL, "expire" TIMESTAMP(3))`);
  await pool.query(`CREATE TABLE "Naive" ("key" TEXT PRIMARY KEY, "value" INTEGER NOT NULL)`);
  await pool.end();
}

export async function describeServer(): Promise<string> {
  const pool = connectPool();
  const { rows } = await pool.query<{ version: string }>(
    `SELECT current_setting('server_version') AS "version"`,
  );
  await pool.end();
  return `PostgreSQL ${rows[0]!.version.split(" ")[0]}`;
}
