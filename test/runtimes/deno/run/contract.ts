/**
 * The contract of stores on `pg` or `node:sqlite`, run by Deno's test runner. Environment: STORE_KIND,
 * and STORE_URL with an empty table, or MIGRATION of SQLite.
 */
import { deepStrictEqual, strictEqual } from "node:assert";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "node:test";
import pg from "pg";
import { pgStore, sqliteStore } from "trpc-rate-limit/server";
import { describeStore } from "trpc-rate-limit/testing";

/** Properties that are `undefined` do not count. */
const defined = (value: unknown): unknown =>
  typeof value !== "object" || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));

const runner = {
  describe,
  it,
  beforeEach,
  afterEach,
  expect: (actual: unknown) => ({
    toBe: (expected: unknown) => strictEqual(actual, expected),
    toEqual: (expected: unknown) => deepStrictEqual(defined(actual), defined(expected)),
  }),
};

if (Deno.env.get("STORE_KIND") === "pg") {
  const url = Deno.env.get("STORE_URL");
  describeStore(runner, "pg", async () => {
    const pools = [1, 2].map(() => new pg.Pool({ connectionString: url }));
    await pools[0]!.query('DELETE FROM "RateLimit"');
    return {
      store: pgStore(pools[0]!),
      peer: pgStore(pools[1]!),
      close: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
    };
  });
} else {
  const files = JSON.parse(Deno.env.get("MIGRATIONS")!) as string[];
  const migrations = files.map((file) => readFileSync(file, "utf8"));
  describeStore(runner, "node:sqlite", () => {
    const folder = mkdtempSync(join(tmpdir(), "limits-"));
    const open = () => new DatabaseSync(join(folder, "test.db"), { timeout: 100 });
    const databases = [open(), open()];
    databases[0]!.exec("PRAGMA journal_mode = WAL");
    for (const migration of migrations) databases[0]!.exec(migration);
    return Promise.resolve({
      store: sqliteStore(databases[0]!, { open }),
      peer: sqliteStore(databases[1]!, { open }),
      close() {
        for (const database of databases) database.close();
        rmSync(folder, { recursive: true, force: true });
        return Promise.resolve();
      },
    });
  });
}
