import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bundleProgram } from "../support/bundle-program.js";
import { createSqlite, sharedDatabases } from "../support/database.js";
import { hasBetterSqlite3, NO_BETTER_SQLITE3 } from "../support/open-sqlite.js";
import type { StoreKind } from "../support/open-store.js";
import { createRedisRows, NO_REDIS, redisUrl } from "../support/redis-rows.js";

const HAMMER = await bundleProgram(new URL("../support/hammer.ts", import.meta.url));

async function hammer(kind: StoreKind, url: string, calls: number, concurrency: number) {
  const args = [HAMMER, kind, url, String(calls), String(concurrency)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

const sqlite = { provider: "sqlite", create: createSqlite } as const;
const databases: typeof sharedDatabases = [
  ...sharedDatabases,
  { name: "SQLite through libsql", kind: "libsql", ...sqlite },
];
/** Without WAL, a writer keeps readers out while it commits. */
async function createWithoutWal() {
  const database = await createSqlite();
  await database.prisma.$queryRawUnsafe("PRAGMA journal_mode = DELETE");
  return database;
}
if (hasBetterSqlite3) {
  const kind = "better-sqlite3";
  databases.push(
    { name: "SQLite through better-sqlite3", kind, ...sqlite },
    { name: "SQLite without WAL", kind, ...sqlite, create: createWithoutWal },
  );
} else {
  it("several processes on SQLite through better-sqlite3", ({ skip }) => skip(NO_BETTER_SQLITE3));
}

describe.each(databases)("several processes on $name", ({ kind, provider, create }) => {
  const processes = provider === "postgresql" ? 5 : 3;
  // A call that does not succeed within the limiter's timeout of 2 s ends its process with an error.
  it.each([1, 8])(
    "together grant exactly 37 calls, with %i calls in flight in each process",
    { timeout: 30_000 },
    async (concurrency) => {
      await using database = await create();
      const { url, prisma } = database;
      const grants = await Promise.all(
        Array.from({ length: processes }, () => hammer(kind, url, 200, concurrency)),
      );
      expect(grants.reduce((sum, each) => sum + each, 0)).toBe(37);
      const rows = await prisma.$queryRawUnsafe<{ used: number }[]>(
        provider === "mysql" ? "SELECT used FROM RateLimit" : `SELECT used FROM "RateLimit"`,
      );
      expect(rows).toHaveLength(1);
      expect(rows[0]!.used).toBeGreaterThan(36);
      expect(rows[0]!.used).toBeLessThanOrEqual(37);
    },
  );
});

describe.skipIf(redisUrl === undefined)("several processes on Redis", () => {
  it.each([1, 8])(
    "together grant exactly 37 calls, with %i calls in flight in each process",
    { timeout: 30_000 },
    async (concurrency) => {
      await using rows = createRedisRows();
      const grants = await Promise.all(
        Array.from({ length: 5 }, () => hammer("redis", rows.url, 200, concurrency)),
      );
      expect(grants.reduce((sum, each) => sum + each, 0)).toBe(37);
    },
  );
});

if (redisUrl === undefined) it("several processes on Redis", ({ skip }) => skip(NO_REDIS));
