/**
 * The driver of docs/pglite.md on PGlite, as it is printed there. PGlite is installed beside Drizzle 1.0.
 * PGlite has one connection, and lets other callers wait.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, it } from "vitest";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import { sqlStore, type SqlDriver } from "../../server/index.js";
import { importBlock } from "../support/docs-module.js";
import { describeStore } from "../server/store/contract.js";

interface PGlite {
  exec(text: string): Promise<unknown>;
  close(): Promise<void>;
}

const PROJECT = new URL("../drizzle-1/package.json", import.meta.url);
const MIGRATIONS = fileURLToPath(new URL("../../prisma/postgresql/migrations", import.meta.url));
const isInstalled = existsSync(new URL("node_modules/@electric-sql/pglite", PROJECT));

describe.runIf(!isInstalled)("PGlite", () => {
  it("carries a store", ({ skip }) => skip("test/drizzle-1 is not installed"));
});

describe.skipIf(!isInstalled)("on PGlite", () => {
  /** One for all tests, because each is a PostgreSQL that takes a second or two to start. */
  let client: PGlite;
  beforeAll(async () => {
    const { PGlite } = createRequire(PROJECT)("@electric-sql/pglite") as {
      PGlite: new () => PGlite;
    };
    client = new PGlite();
    for (const { statements } of await readMigrations(MIGRATIONS)) {
      for (const statement of statements) await client.exec(statement);
    }
  });
  afterAll(() => client.close());

  for (const isolation of [undefined, "serializable"] as const) {
    describeStore(`sqlStore on PGlite, ${isolation ?? "guarded"},`, async () => {
      const { pgliteDriver } = await importBlock<{ pgliteDriver(db: PGlite): SqlDriver }>(
        "docs/pglite.md",
        "server/pglite-driver.ts",
      );
      await client.exec('DELETE FROM "RateLimit"');
      const open = () => sqlStore(pgliteDriver(client), { isolation });
      return { store: open(), peer: open(), async close() {} };
    });
  }
});
