/** A store says what is wrong with its table, before the first decision, and finds the right one. */
import { PrismaPg } from "@prisma/adapter-pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { PrismaClient } from "../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, pgStore, prismaStore } from "../../server/index.js";
import { createPostgres, createSqlite, intercept, sharedDatabases } from "../support/database.js";
import { connectPool, openStore } from "../support/open-store.js";

const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

describe.each(sharedDatabases)("a store on $name", ({ kind, provider, create }) => {
  const mark = provider === "mysql" ? "`" : '"';
  const table = `${mark}RateLimit${mark}`;

  async function open() {
    const database = await create();
    const opened = openStore(kind, database.url);
    onTestFinished(async () => {
      await opened.close();
      await database[Symbol.asyncDispose]();
    });
    const limiter = createRateLimiter({ store: opened.store, limits, logger: false });
    return { run: (sql: string) => database.prisma.$executeRawUnsafe(sql), limiter };
  }

  it("says that its table is missing, also when it was dropped later", async () => {
    const { run, limiter } = await open();
    const definition = `CREATE TABLE ${table} (x INT)`;
    await run(`DROP TABLE ${table}`);
    const missing =
      /table "RateLimit" does not exist in .*must be in the Prisma schema, and migrated/;
    await expect(limiter.limit("once")).rejects.toThrow(missing);
    await expect(limiter.transaction(({ limit }) => limit("once"))).rejects.toThrow(missing);
    await expect(limiter.prune()).rejects.toThrow(missing);
    await run(definition);
    await expect(limiter.limit("once")).rejects.toThrow("has no column name, key, shard");
  });

  it("works as soon as its table is there, and reports its loss again", async () => {
    const { run, limiter } = await open();
    await run(`ALTER TABLE ${table} RENAME TO hidden`);
    await expect(limiter.limit("once")).rejects.toThrow("does not exist");
    await run(`ALTER TABLE hidden RENAME TO ${table}`);
    expect(await limiter.limit("once")).toMatchObject({ ok: true });
    await run(`ALTER TABLE ${table} RENAME TO hidden`);
    await expect(limiter.limit("once")).rejects.toThrow(
      /must be in the Prisma schema, and migrated/,
    );
  });

  it("refuses a table of the same name that belongs to another package", async () => {
    const { run, limiter } = await open();
    await run(`DROP TABLE ${table}`);
    await run(
      `CREATE TABLE ${table} (id VARCHAR(50) PRIMARY KEY, ${mark}key${mark} VARCHAR(50), count INT)`,
    );
    await expect(limiter.limit("once")).rejects.toThrow(
      /is not a table of rate limits: it has no column name, shard, value, ts; .*option model/,
    );
  });

  it("refuses columns that round numbers", async () => {
    const { run, limiter } = await open();
    await run(`DROP TABLE ${table}`);
    const text = provider === "mysql" ? "VARCHAR(192) COLLATE utf8mb4_bin" : "VARCHAR(192)";
    await run(
      `CREATE TABLE ${table} (name ${text}, ${mark}key${mark} ${text}, shard INT, ` +
        `${mark}value${mark} DECIMAL(10, 2), ts DOUBLE PRECISION)`,
    );
    await expect(limiter.limit("once")).rejects.toThrow(
      /column value of table "RateLimit" has the type .*it must be a double/,
    );
  });
});

describe("a store on SQLite", () => {
  it("refuses a key that ignores case", async () => {
    await using database = await createSqlite();
    const { prisma } = database;
    await prisma.$executeRaw`DROP TABLE "RateLimit"`;
    await prisma.$executeRaw`CREATE TABLE "RateLimit" ("name" TEXT, "key" TEXT COLLATE NOCASE,
      "shard" INTEGER, "value" REAL, "ts" REAL, PRIMARY KEY ("name", "key", "shard"))`;
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, logger: false });
    await expect(limiter.limit("once")).rejects.toThrow(
      "column key of table RateLimit has the collation NOCASE",
    );
  });

  it("checks its table once, and not once per call", async () => {
    await using database = await createSqlite();
    const texts: string[] = [];
    const spy = intercept(database.prisma, async (text) => void texts.push(text));
    const limiter = createRateLimiter({ store: prismaStore(spy), limits });
    await Promise.all(["a", "b"].map((key) => limiter.limit("once", { key })));
    await limiter.limit("once", { key: "c" });
    await limiter.transaction(({ limit }) => limit("once", { key: "d" }));
    expect(texts.filter((text) => text.includes("pragma_table_info"))).toHaveLength(1);
  });
});

describe("a store on PostgreSQL", () => {
  async function withSchema() {
    const database = await createPostgres();
    const pool = connectPool(database.url);
    const clients: { $disconnect(): Promise<void> }[] = [];
    onTestFinished(async () => {
      await Promise.all([pool.end(), ...clients.map((client) => client.$disconnect())]);
      await database[Symbol.asyncDispose]();
    });
    await pool.query(`CREATE SCHEMA tenant`);
    const connect = (schema?: string) => {
      const adapter = new PrismaPg({ connectionString: database.url }, schema ? { schema } : {});
      const client = new PrismaClient({ adapter });
      clients.push(client);
      return client;
    };
    const rows = async (schema: string) =>
      (await pool.query(`SELECT * FROM ${schema}."RateLimit"`)).rows.length;
    return { pool, connect, rows };
  }

  it("follows the schema of the adapter, of the model, and its own option", async () => {
    const { pool, connect, rows } = await withSchema();
    await pool.query(`CREATE TABLE tenant."RateLimit" (LIKE public."RateLimit" INCLUDING ALL)`);
    const modelled = Object.assign(connect(), {
      _runtimeDataModel: {
        models: { RateLimit: { dbName: null, schema: "tenant" } },
      },
    });
    const stores = [
      prismaStore(connect("tenant")),
      prismaStore(modelled),
      prismaStore(connect("tenant"), { pool }),
      pgStore(pool, { schema: "tenant" }),
    ];
    for (const [i, store] of stores.entries()) {
      const limiter = createRateLimiter({ store: store as ReturnType<typeof pgStore>, limits });
      await limiter.limit("once", { key: `${i}` });
      expect([await rows("public"), await rows("tenant")]).toEqual([0, i + 1]);
      await limiter.prune();
    }
    expect(await connect("tenant").rateLimit.count()).toBe(stores.length);
  });

  it("names the schemas that have such a table when it finds none", async () => {
    const { pool, connect } = await withSchema();
    await pool.query(`ALTER TABLE "RateLimit" SET SCHEMA tenant`);
    const lost = createRateLimiter({ store: prismaStore(connect()), limits, logger: false });
    await expect(lost.limit("once")).rejects.toThrow(
      /does not exist in the search_path \(public\) \(there is one in schema "tenant": name its schema/,
    );
    const wrong = createRateLimiter({
      store: prismaStore(connect("elsewhere")),
      limits,
      logger: false,
    });
    await expect(wrong.limit("once")).rejects.toThrow(/does not exist in schema "elsewhere"/);
  });
});
