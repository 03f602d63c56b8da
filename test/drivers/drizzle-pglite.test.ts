/** PGlite is installed beside Drizzle 1.0. PGlite has one connection, and lets other callers wait. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/pglite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import { drizzleStore } from "../../server/drizzle/index.js";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../server/index.js";
import { describeStore } from "../server/store/contract.js";

interface PGlite {
  exec(text: string): Promise<unknown>;
  close(): Promise<void>;
}

const { PGlite } = createRequire(new URL("../drizzle-1/package.json", import.meta.url))(
  "@electric-sql/pglite",
) as { PGlite: new () => PGlite };
const MIGRATIONS = fileURLToPath(new URL("../../prisma/postgresql/migrations", import.meta.url));

/** One for all tests, because each is a PostgreSQL that takes a second or two to start. */
const client = new PGlite();
beforeAll(async () => {
  for (const { statements } of await readMigrations(MIGRATIONS)) {
    for (const statement of statements) await client.exec(statement);
  }
});
afterAll(() => client.close());

async function open(isolation?: "serializable") {
  await client.exec('DELETE FROM "RateLimit"');
  const make = () => drizzle({ client: client as never });
  const stores = [make(), make()].map((db) => drizzleStore(db, { isolation }) as RateLimitStore);
  return { db: make(), store: stores[0]!, peer: stores[1]!, async close() {} };
}

for (const isolation of [undefined, "serializable"] as const) {
  describeStore(`Drizzle on PGlite, ${isolation ?? "guarded"},`, () => open(isolation));
}

describe("drizzleStore on PGlite", () => {
  const limits = { few: { kind: "token bucket", rate: 10, period: HOUR } } as const;

  it("joins a transaction, and keeps calls from outside out of it", async () => {
    const { db, store } = await open();
    const limiter = createRateLimiter({ store, limits });
    let outside: Promise<unknown> | undefined;
    const failing = db.transaction(async (tx) => {
      await limiter.using(tx as never).limit("few", { key: "inside" });
      outside = limiter.limit("few", { key: "outside" });
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      throw new Error("undo");
    });
    await expect(failing).rejects.toThrow("undo");
    expect(await outside).toMatchObject({ ok: true });
    expect(Math.floor((await limiter.getValue("few", { key: "outside" })).value)).toBe(9);
    expect((await limiter.getValue("few", { key: "inside" })).value).toBe(10);
  });
});
