/** The contract of stores on each client that runs in Bun, guarded and serializable. */
import { describe, expect, inject, it } from "vitest";
import { describeStore } from "../../../testing/index.js";
import { bun, type BunTests, NO_BUN, testInBun } from "../../support/bun.js";
import { mysqlUrl } from "../../support/database.js";
import type { StoreKind } from "../../support/open-store.js";

const onPostgres: StoreKind[] = [
  "pg",
  "postgresql",
  "pool of prisma",
  "bun sql pg",
  "bun sql pg, unprepared",
  "drizzle pg",
  "drizzle postgres-js",
  "kysely pg",
];
const onMysql: StoreKind[] = [
  "mysql2",
  "mariadb",
  "mysql",
  "bun sql mysql",
  "drizzle mysql2",
  "kysely mysql2",
];
const onSqlite: StoreKind[] = ["bun:sqlite", "libsql", "sqlite", "drizzle libsql"];

/** How many tests the contract has. */
function countTests(): number {
  let count = 0;
  const ignore = () => {};
  const runner = {
    describe: (_title: string, define: () => void) => define(),
    it: () => count++,
    beforeEach: ignore,
    afterEach: ignore,
    expect: () => ({ toBe: ignore, toEqual: ignore }),
  };
  describeStore(runner, "counted", () => Promise.reject(new Error("no test is run")));
  return count;
}

function report(name: string, { passed, skipped }: BunTests): void {
  console.log(`Bun, ${name}: ${passed} passed, ${skipped.length} skipped`);
}

async function passes(kind: StoreKind, server = ""): Promise<void> {
  const tests = await testInBun("contract.ts", { STORE_KIND: kind, STORE_SERVER: server });
  report(kind, tests);
  expect(tests.skipped).toEqual([]);
  // Guarded and serializable.
  expect(tests.passed).toBe(2 * countTests());
}

describe.skipIf(bun === undefined)("the contract of stores, in Bun", () => {
  it("has tests", () => {
    expect(countTests()).toBeGreaterThan(25);
  });

  it.each(onPostgres)("is passed by %s on PostgreSQL", (kind) =>
    passes(kind, inject("postgresUrl")),
  );

  it.for(onMysql)("is passed by %s on MySQL or MariaDB", async (kind, { skip }) => {
    if (mysqlUrl === undefined) return skip("TEST_MYSQL_URL is not set");
    await passes(kind, mysqlUrl);
  });

  it.each(onSqlite)("is passed by %s on SQLite", (kind) => passes(kind));

  it.each([
    ["bun-sqlite.ts", 12],
    ["bun-sql.ts", 17],
  ])("and what a client promises beyond it is kept: %s", async (file, expected) => {
    const env = { POSTGRES_URL: inject("postgresUrl"), MYSQL_URL: mysqlUrl ?? "" };
    const tests = await testInBun(file, env);
    report(file, tests);
    expect(tests.passed).toBeGreaterThanOrEqual(expected);
  });
});

if (bun === undefined) it("the contract of stores, in Bun", ({ skip }) => skip(NO_BUN));
