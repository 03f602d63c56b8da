/**
 * Applies migrations through the driver. The migrations are recorded where and as `prisma migrate deploy`
 * records them, so each of the two can continue after the other. No schema engine is needed, which Prisma
 * would have to download first.
 */
import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

interface Client {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(query: string, ...values: unknown[]): PromiseLike<number>;
}

export type Dialect = "sqlite" | "postgresql" | "mysql";

const HISTORY: Record<Dialect, string> = {
  sqlite: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" TEXT PRIMARY KEY NOT NULL,
    "checksum" TEXT NOT NULL,
    "finished_at" DATETIME,
    "migration_name" TEXT NOT NULL,
    "logs" TEXT,
    "rolled_back_at" DATETIME,
    "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
  )`,
  postgresql: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum" VARCHAR(64) NOT NULL,
    "finished_at" TIMESTAMPTZ,
    "migration_name" VARCHAR(255) NOT NULL,
    "logs" TEXT,
    "rolled_back_at" TIMESTAMPTZ,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0
  )`,
  mysql: `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at DATETIME(3),
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at DATETIME(3),
    started_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    applied_steps_count INTEGER UNSIGNED NOT NULL DEFAULT 0
  )`,
};

const PLACEHOLDERS: Record<Dialect, string> = {
  sqlite: "?, ?, ?",
  postgresql: "$1, $2, $3",
  mysql: "?, ?, ?",
};

/**
 * Applies the migrations that a database does not have yet.
 *
 * @param folder Prisma's `migrations` folder: one folder per migration, applied in their order.
 * @returns the names of the migrations that were applied.
 */
export async function migrate(
  client: Client,
  folder: string,
  dialect: Dialect = "sqlite",
): Promise<string[]> {
  await client.$executeRawUnsafe(HISTORY[dialect]);
  const rows = await client.$queryRawUnsafe(
    `SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL`,
  );
  const done = new Set((rows as { name: string }[]).map(({ name }) => name));
  const wanted = (await readMigrations(folder)).filter(({ name }) => !done.has(name));
  for (const { name, script, statements } of wanted) {
    for (const statement of statements) await client.$executeRawUnsafe(statement);
    const checksum = createHash("sha256").update(script).digest("hex");
    await client.$executeRawUnsafe(
      `INSERT INTO _prisma_migrations
         (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES (${PLACEHOLDERS[dialect]}, CURRENT_TIMESTAMP, 1)`,
      randomUUID(),
      checksum,
      name,
    );
  }
  return wanted.map(({ name }) => name);
}

/** The migrations of a folder in their order, for any database. */
export async function readMigrations(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(join(folder, name, "migration.sql"), "utf8");
      return { name, script, statements: statementsOf(script) };
    }),
  );
}

/** Migrations end each statement with a semicolon at the end of a line. */
function statementsOf(script: string): string[] {
  return script
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replaceAll(/^--.*$/gm, "").trim() !== "");
}
