/**
 * The PostgreSQL that the tests of failovers run: that of `TEST_POSTGRES_BIN`, or the newest one of
 * Debian's packages, or the one that npm brings. The latter has no `pg_basebackup`, so none is used.
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
