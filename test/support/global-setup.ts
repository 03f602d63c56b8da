/**
 * Provides one PostgreSQL server to all tests: the server of TEST_POSTGRES_URL, or else a new server.
 * Deletes the databases that tests have kept for each other.
 */
import { randomBytes } from "node:crypto";
import type { TestProject } from "vitest/node";
import { connectMysql, connectPostgres } from "./clients.js";
import { createTemplate, mysqlUrl } from "./database.js";
import { startPostgres } from "./postgres-server.js";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export default async function setup({ provide }: TestProject) {
  const configuredUrl = process.env["TEST_POSTGRES_URL"];
  const server = configuredUrl === undefined ? await startPostgres() : undefined;
  const url = configuredUrl ?? server!.url;
  const kept = `kept_${randomBytes(8).toString("hex")}`;
  await createTemplate(url, kept);
  provide("postgresUrl", url);
  provide("keptDatabases", kept);
  return async () => {
    if (server === undefined) await dropOnPostgres(url, kept);
    else await server.stop();
    if (mysqlUrl !== undefined) await dropOnMysql(mysqlUrl, kept);
  };
}

async function dropOnPostgres(url: string, prefix: string): Promise<void> {
  const client = connectPostgres(url);
  const names: { name: string }[] = await client.$queryRawUnsafe(
    `SELECT datname AS name FROM pg_database WHERE datname LIKE '${prefix}%'`,
  );
  for (const { name } of names) {
    await client.$executeRawUnsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  }
  await client.$disconnect();
}

async function dropOnMysql(url: string, prefix: string): Promise<void> {
  const client = connectMysql(url);
  const names: { name: string }[] = await client.$queryRawUnsafe(
    `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE '${prefix}%'`,
  );
  for (const { name } of names) await client.$executeRawUnsafe(`DROP DATABASE ${name}`);
  await client.$disconnect();
}
