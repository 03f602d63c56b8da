import { createRequire } from "node:module";
import {
  type Dialect,
  DummyDriver,
  Kysely,
  MssqlAdapter,
  MssqlIntrospector,
  MssqlQueryCompiler,
  ParseJSONResultsPlugin,
  sql,
} from "kysely";
import type * as esm from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, HOUR } from "../../../server/index.js";
import { kyselyStore } from "../../../server/kysely/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../support/database.js";
import { connectPool } from "../../support/connect-pool.js";
import { connectKysely, hasBetterSqlite3, type KyselyTables } from "../../support/open-orm.js";

const limits = { few: { kind: "token bucket", rate: 10, period: HOUR } } as const;

const databases = [
  { kind: "postgresql", create: () => createPostgres() },
  ...(mysqlUrl === undefined ? [] : [{ kind: "mysql", create: () => createMysql() } as const]),
  ...(hasBetterSqlite3 ? [{ kind: "sqlite", create: createSqlite } as const] : []),
] as const;

async function setUp({ kind, create }: (typeof databases)[number]) {
  const database = await create();
  const db = connectKysely(kind, database.url, 4);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => db.destroy());
  await sql`CREATE TABLE posts (id int)`.execute(db);
  const limiter = createRateLimiter({ store: kyselyStore(db), limits });
  const posts = async () => (await sql`SELECT id FROM posts`.execute(db)).rows.length;
  const left = async () => Math.floor((await limiter.getValue("few", { key: "ann" })).value);
  return { database, db, limiter, posts, left };
}

const post = sql`INSERT INTO posts VALUES (1)`;
const failed = new Error("post failed");

describe.each(databases)("kyselyStore on $kind", (kind) => {
  it("commits the tokens and the data of `transaction` together, or neither", async () => {
    const { limiter, posts, left } = await setUp(kind);
    const publish = (fails: boolean) =>
      limiter.transaction(async ({ tx, limit }) => {
        await limit("few", { key: "ann", count: 2, throws: true });
        await post.execute(tx);
        if (fails) throw failed;
        return "published";
      });
    expect(await publish(false)).toBe("published");
    await expect(publish(true)).rejects.toBe(failed);
    expect(await posts()).toBe(1);
    expect(await left()).toBe(8);
  });

  it("joins a transaction of the application, savepoints included", async () => {
    const { db, limiter, posts, left } = await setUp(kind);
    const tx = await db.startTransaction().execute();
    await limiter.using(tx).limit("few", { key: "ann", throws: true });
    const saved = await tx.savepoint("before").execute();
    await limiter.using(saved).limit("few", { key: "ann", count: 3, throws: true });
    await post.execute(saved);
    await (await saved.rollbackToSavepoint("before").execute()).commit().execute();
    expect(await left()).toBe(9);
    expect(await posts()).toBe(0);
    const aborted = db.transaction().execute(async (other) => {
      await limiter.using(other).limit("few", { key: "ann", throws: true });
      throw failed;
    });
    await expect(aborted).rejects.toBe(failed);
    expect(await left()).toBe(9);
  });

  it("retries transactions that conflict, until each of them has taken its token", async () => {
    const { limiter, posts, left } = await setUp(kind);
    await Promise.all(
      Array.from({ length: 6 }, () =>
        limiter.transaction(async ({ tx, limit }) => {
          await limit("few", { key: "ann", throws: true });
          await post.execute(tx);
        }),
      ),
    );
    expect(await posts()).toBe(6);
    expect(await left()).toBe(4);
  });

  it("rolls back a transaction that takes longer than its timeout", async () => {
    const { limiter, posts, left } = await setUp(kind);
    const slow = limiter.transaction(
      async ({ tx, limit }) => {
        await limit("few", { key: "ann", throws: true });
        await post.execute(tx);
      },
      { timeout: 0 },
    );
    await expect(slow).rejects.toThrow("the transaction took longer than 0 ms");
    expect(await posts()).toBe(0);
    expect(await left()).toBe(10);
  });

  it("keeps keys that a plugin would take for JSON", async () => {
    const plugin = new ParseJSONResultsPlugin();
    const { db } = await setUp(kind);
    const store = kyselyStore(db.withPlugin(plugin));
    const limiter = createRateLimiter({ store, limits });
    for (const key of ['{"id":1}', "[1]"]) {
      await limiter.limit("few", { key, count: 4 });
      await db
        .withPlugin(plugin)
        .transaction()
        .execute((tx) => limiter.using(tx).limit("few", { key, count: 4 }));
      expect(Math.floor((await limiter.getValue("few", { key })).value)).toBe(2);
    }
  });
});

describe("kyselyStore", () => {
  it("fails a transaction that hides the error of one of its statements: nothing was committed", async () => {
    const { limiter, left } = await setUp(databases[0]);
    const hides = limiter.transaction(async ({ tx, limit }) => {
      await limit("few", { key: "ann", throws: true });
      await sql`SELECT 1 FROM missing`.execute(tx).catch(() => {});
    });
    await expect(hides).rejects.toThrow("one of its statements had failed");
    expect(await left()).toBe(10);
  });

  it("follows the table and the schema that it is given", async () => {
    const { db } = await setUp(databases[0]);
    await sql`CREATE SCHEMA app`.execute(db);
    await sql`CREATE TABLE app.limits (LIKE "RateLimit" INCLUDING ALL)`.execute(db);
    const store = kyselyStore(db, { table: "limits", schema: "app" });
    await createRateLimiter({ store, limits }).limit("few");
    expect((await sql`SELECT 1 FROM app.limits`.execute(db)).rows).toHaveLength(1);
    expect((await sql`SELECT 1 FROM "RateLimit"`.execute(db)).rows).toHaveLength(0);
  });

  it("refuses a transaction, and a dialect that it does not know", async () => {
    const { db } = await setUp(databases[0]);
    await db.transaction().execute(async (tx) => {
      expect(() => kyselyStore(tx)).toThrow("pass a transaction to using()");
    });
    const mssql = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new MssqlAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (other) => new MssqlIntrospector(other),
        createQueryCompiler: () => new MssqlQueryCompiler(),
      },
    });
    expect(() => kyselyStore(mssql)).toThrow(/does not know the dialect of MssqlAdapter; give it/);
  });
});

/** The other copy of Kysely, which CommonJS code gets. */
const commonJs = createRequire(import.meta.url)("kysely") as typeof esm;

describe("kyselyStore with the Kysely of CommonJS code", () => {
  it("charges the application's database, and joins its transactions", async () => {
    expect(commonJs.Kysely).not.toBe(Kysely);
    await using database = await createPostgres();
    const pool = connectPool(database.url, 4);
    const db = new commonJs.Kysely<KyselyTables>({
      dialect: new commonJs.PostgresDialect({ pool }),
    });
    onTestFinished(() => db.destroy());
    const limiter = createRateLimiter({ store: kyselyStore(db), limits });
    await limiter.limit("few");
    await limiter.transaction(({ limit }) => limit("few", { count: 2 }));
    await db.transaction().execute((tx) => limiter.using(tx).limit("few", { count: 4 }));
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(3);
  });

  it("knows each dialect by the statements that it compiles", () => {
    const refusal = (dialect: Dialect) => {
      const db = new commonJs.Kysely<KyselyTables>({ dialect });
      const pool = connectPool("postgresql://127.0.0.1:1/nowhere");
      return () => kyselyStore(db, { pool });
    };
    const unused = () => Promise.reject(new Error("not called"));
    const mysql = new commonJs.MysqlDialect({ pool: unused });
    const sqlite = new commonJs.SqliteDialect({ database: unused });
    expect(refusal(mysql)).toThrow("pool must be left out: the dialect is mysql");
    expect(refusal(sqlite)).toThrow("the dialect is sqlite");
  });
});

describe("the pool of a Kysely dialect", () => {
  it("carries the single decisions, and leaves transactions to Kysely", async () => {
    await using database = await createPostgres();
    const db = connectKysely("postgresql", database.url);
    const pool = connectPool(database.url, 2);
    onTestFinished(async () => void (await Promise.all([db.destroy(), pool.end()])));
    let lent = 0;
    pool.on("acquire", () => lent++);
    const limiter = createRateLimiter({ store: kyselyStore(db, { pool }), limits });
    await limiter.limit("few");
    expect(lent).toBeGreaterThan(0);
    const before = lent;
    const query = sql`SELECT 1`;
    await limiter.transaction(async ({ tx, limit }) => {
      await query.execute(tx);
      await limit("few", { count: 2 });
    });
    expect(lent).toBe(before);
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(7);
  });
});
