/** The contract of stores on each client that runs in Bun, guarded and serializable. */
import { describe, expect, inject, it } from "vitest";
import { describeStore } from "../../../testing/index.js";
import { bun, type BunTests, NO_BUN, testInBun } from "../../support/bun.js";
import { hasDrizzle1, NO_DRIZZLE_1 } from "../../support/drizzle-1.js";
import { mysqlUrl } from "../../support/database.js";
import { isNightly, NIGHTLY_ONLY } from "../../support/nightly.js";
import type { StoreKind } from "../../support/open-store.js";

const onPostgres: StoreKind[] = [
  "pg",
  "postgresql",
  "pool of prisma",
  "bun sql pg",
  "bun sql pg, unprepared",
  "drizzle pg",
  "drizzle postgres-js",
  "drizzle bun-sql pg",
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
const onDrizzle1: StoreKind[] = [
  "drizzle pg",
  "drizzle libsql",
  "drizzle bun-sql pg",
  "drizzle bun-sql mysql",
];

/**
 * Node.js runs the contract on the other clients as well, so by day only Bun's own clients are tested
 * here.
 */
const isOfBun = (kind: StoreKind) => /\bbun\b/.test(kind);
const chosen = isNightly ? () => true : isOfBun;
const [toPostgres, toMysql, toSqlite] = [onPostgres, onMysql, onSqlite].map((kinds) =>
  kinds.filter(chosen),
) as [StoreKind[], StoreKind[], StoreKind[]];

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

async function passes(kind: StoreKind, server = "", flags: string[] = []): Promise<void> {
  const env = { STORE_KIND: kind, STORE_SERVER: server, ...(flags.length > 0 && ON_DRIZZLE_1) };
  const tests = await testInBun("contract.ts", env, flags);
  report(flags.length > 0 ? `${kind}, Drizzle 1.0` : kind, tests);
  expect(tests.skipped).toEqual([]);
  // The contract runs twice: guarded and serializable.
  expect(tests.passed).toBe(2 * countTests());
}

const ON_DRIZZLE_1 = { DRIZZLE_VERSION: "1" };
/** Bun resolves Drizzle through the paths in this file. */
const WITH_DRIZZLE_1 = ["--tsconfig-override=test/runtimes/bun/drizzle-1.tsconfig.json"];

describe.skipIf(bun === undefined)("the contract of stores, in Bun", () => {
  it("has tests", () => {
    expect(countTests()).toBeGreaterThan(25);
  });

  it.each(toPostgres)("is passed by %s on PostgreSQL", (kind) =>
    passes(kind, inject("postgresUrl")),
  );

  it.for(toMysql)("is passed by %s on MySQL or MariaDB", async (kind, { skip }) => {
    if (mysqlUrl === undefined) return skip("TEST_MYSQL_URL is not set");
    await passes(kind, mysqlUrl);
  });

  it.each(toSqlite)("is passed by %s on SQLite", (kind) => passes(kind));

  it.for(onDrizzle1.filter(chosen))("is passed by %s with Drizzle 1.0", async (kind, { skip }) => {
    if (!hasDrizzle1) return skip(NO_DRIZZLE_1);
    const isMysql = kind.endsWith("mysql");
    if (isMysql && mysqlUrl === undefined) return skip("TEST_MYSQL_URL is not set");
    const server = isMysql ? mysqlUrl : kind.endsWith("pg") ? inject("postgresUrl") : "";
    await passes(kind, server, WITH_DRIZZLE_1);
  });

  it.for([
    ["0.45", []],
    ["1.0", WITH_DRIZZLE_1],
  ] as const)(
    "is passed by drizzle bun-sqlite with Drizzle %s, but for transactions",
    async ([version, flags], { skip }) => {
      if (flags.length > 0 && !hasDrizzle1) return skip(NO_DRIZZLE_1);
      const env: Record<string, string> = flags.length > 0 ? ON_DRIZZLE_1 : {};
      const tests = await testInBun("drizzle-bun-sqlite.ts", env, flags);
      report(`drizzle bun-sqlite ${version}`, tests);
      for (const reason of tests.skipped) expect(reason).toMatch(/^this store has no transactions/);
      expect(tests.skipped).toHaveLength(12);
      // Bun counts skipped tests as passed.
      expect(tests.passed).toBe(2 * countTests() + 2);
    },
  );

  it.each([
    ["bun-sqlite.ts", 12],
    ["bun-sql.ts", 18],
  ])("and what a client promises beyond it is kept: %s", async (file, expected) => {
    const env = { POSTGRES_URL: inject("postgresUrl"), MYSQL_URL: mysqlUrl ?? "" };
    const tests = await testInBun(file, env);
    report(file, tests);
    expect(tests.passed).toBeGreaterThanOrEqual(expected);
  });
});

if (!isNightly) {
  it("the contract of stores on clients that also run in Node.js, in Bun", ({ skip }) =>
    skip(NIGHTLY_ONLY));
}
if (bun === undefined) it("the contract of stores, in Bun", ({ skip }) => skip(NO_BUN));
