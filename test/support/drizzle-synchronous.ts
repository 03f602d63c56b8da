/** Drizzle on a synchronous client of SQLite, and what drizzleStore promises on it. */
import { sql } from "drizzle-orm";
import { BetterSQLiteSession } from "drizzle-orm/better-sqlite3/session";
import { drizzle as drizzleSqlJs } from "drizzle-orm/sql-js";
import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { drizzleStore, type DrizzleLike } from "../../server/drizzle/index.js";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../server/index.js";
import { describeStore } from "../server/store/contract.js";
import { createSqlite } from "./database.js";
import { openSynchronous, type SqliteClientName, type SynchronousDatabase } from "./open-sqlite.js";

interface Database extends DrizzleLike {
  run(query: unknown): unknown;
  transaction(run: (tx: Database) => unknown): unknown;
}

/**
 * The same object as from drizzle-orm/better-sqlite3. That driver imports a package that is installed in
 * another folder.
 */
export function drizzleBetterSqlite3(client: SynchronousDatabase): Database {
  const db = drizzleSqlJs(client as never);
  const { dialect } = db as unknown as { dialect: never };
  // Before 1.0, there is no schema here. From 1.0 on, there are no relations.
  const relations = process.env["DRIZZLE_VERSION"] === "1" ? ({} as never) : undefined;
  const session = new BetterSQLiteSession(client as never, dialect, relations);
  Object.assign(db, { session, $client: client });
  return db as unknown as Database;
}

const limits = { few: { kind: "token bucket", rate: 10, period: HOUR } } as const;

const rateLimits = sqliteTable("RateLimit", {
  name: text("name").notNull(),
  key: text("key").notNull(),
  shard: integer("shard").notNull(),
  used: real("used").notNull(),
  ts: real("ts").notNull(),
});

export function describeSynchronousDrizzle(
  name: Exclude<SqliteClientName, "libsql">,
  make: (client: SynchronousDatabase) => DrizzleLike,
): void {
  async function open(isolation?: "serializable") {
    const database = await createSqlite();
    const clients = [1, 2].map(() => openSynchronous(name, database.url));
    const dbs = clients.map((client) => make(client) as Database);
    const stores = dbs.map((db) => drizzleStore(db, { isolation, table: rateLimits }));
    const close = async () => {
      for (const client of clients) client.close();
      await database[Symbol.asyncDispose]();
    };
    return { clients, dbs, stores, close };
  }

  for (const isolation of [undefined, "serializable"] as const) {
    describeStore(`Drizzle on ${name}, ${isolation ?? "guarded"},`, async () => {
      const { stores, close } = await open(isolation);
      // The contract skips its transactions for a store that does not offer them.
      const [store, peer] = stores.map(({ transaction: _ignored, ...single }) => single);
      return { store: store as RateLimitStore, peer: peer as RateLimitStore, close };
    });
  }

  describe(`drizzleStore on ${name}`, () => {
    async function setUp() {
      const { clients, dbs, stores, close } = await open();
      onTestFinished(close);
      const limiter = createRateLimiter({ store: stores[0]!, limits, logger: false });
      return { client: clients[0]!, db: dbs[0]!, limiter };
    }

    it("refuses transactions, and says what to use instead", async () => {
      const { db, limiter } = await setUp();
      await expect(limiter.transaction(async () => {})).rejects.toThrow(
        /transaction\(\) needs a transaction: .*use drizzle-orm\/libsql, or sqliteStore\(db\.\$client/,
      );
      db.transaction((tx) => {
        expect(() => limiter.using(tx).limit("few")).toThrow(
          /using\(\) has no transaction: .* are synchronous/,
        );
      });
      expect(await limiter.limit("few")).toMatchObject({ ok: true });
    });

    it("keeps its tokens apart from a transaction of Drizzle that is rolled back", async () => {
      const { client, db, limiter } = await setUp();
      let call: Promise<unknown> | undefined;
      const failing = () =>
        db.transaction((tx) => {
          tx.run(sql.raw("CREATE TABLE posts (id int)"));
          call = limiter.limit("few", { count: 4 });
          throw new Error("undo");
        });
      expect(failing).toThrow("undo");
      expect(await call).toMatchObject({ ok: true });
      expect(Math.floor((await limiter.getValue("few")).value)).toBe(6);
      expect(client.prepare("SELECT 1 FROM sqlite_master WHERE name = 'posts'").all()).toEqual([]);
    });
  });
}
