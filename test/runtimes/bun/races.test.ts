/** Two processes of Bun on one key of one database. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bun, NO_BUN, runInBun } from "../../support/bun.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import type { StoreKind } from "../../support/open-store.js";

const HAMMER = fileURLToPath(new URL("../../support/hammer.ts", import.meta.url));
const CAPACITY = 37;
const ROUNDS = 2;

const clients: [kind: StoreKind, create: () => Promise<TestDatabase>][] = [
  ...(["pg", "postgresql", "bun sql pg", "drizzle bun-sql pg"] as const).map(
    (kind) => [kind, () => createPostgres()] as [StoreKind, typeof createPostgres],
  ),
  ...(["bun:sqlite", "libsql", "sqlite"] as const).map(
    (kind) => [kind, createSqlite] as [StoreKind, typeof createSqlite],
  ),
];
if (mysqlUrl !== undefined) {
  for (const kind of ["mysql2", "mariadb", "mysql", "bun sql mysql"] as const) {
    clients.push([kind, () => createMysql()]);
  }
}

/** Starts a process for each number of callers. The start takes longer than the calls. */
async function grants(kind: StoreKind, url: string, callers: number[]): Promise<number> {
  const hammer = (own: number) => runInBun(HAMMER, kind, url, "100", String(own));
  const granted = await Promise.all(callers.map(hammer));
  return granted.reduce((sum, printed) => sum + Number(printed), 0);
}

describe.skipIf(bun === undefined)("two processes of Bun", () => {
  it.each(clients)(
    "together grant exactly what a bucket holds, through %s",
    async (kind, create) => {
      for (let round = 0; round < ROUNDS; round++) {
        await using database = await create();
        // First one caller in each process, then eight.
        expect(await grants(kind, database.url, round === 0 ? [1, 1] : [8, 8])).toBe(CAPACITY);
        expect(await grants(kind, database.url, [8])).toBe(0);
      }
    },
  );
});

if (bun === undefined) it("two processes of Bun", ({ skip }) => skip(NO_BUN));
