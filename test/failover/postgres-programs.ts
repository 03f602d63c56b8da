/**
 * The PostgreSQL for the tests of failovers: the one of `TEST_POSTGRES_BIN`, or the newest of Debian's
 * packages, or the one that npm brings. npm's has no `pg_basebackup`, so the tests use none.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type PostgresPrograms, programsOfNpm } from "../support/postgres-server.js";

const DEBIAN = "/usr/lib/postgresql";

export async function findPostgres(): Promise<PostgresPrograms> {
  const folder = process.env["TEST_POSTGRES_BIN"] ?? newestOfDebian();
  if (folder === undefined) return programsOfNpm();
  return { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
}

function newestOfDebian(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : [];
  return versions
    .sort((a, b) => b - a)
    .map((version) => join(DEBIAN, String(version), "bin"))
    .find((folder) => existsSync(join(folder, "postgres")));
}
