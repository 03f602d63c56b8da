/** Before its first decision, a store says what is wrong with its table, and finds a correct table. */
import { PrismaPg } from "@prisma/adapter-pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { PrismaClient } from "../../../../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, pgStore, prismaStore } from "../../../../../server/index.js";
import {
  createPostgres,
  createSqlite,
  intercept,
  sharedDatabases,
} from "../../../../support/database.js";
import { connectPool, openStore } from "../../../../support/open-store.js";

const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

describe.each(sharedDatabases)("a store on $name", ({ kind, provider, create }) => {
  const mark = provider === "mysql" ? "`" : '"';
  const table = `${mark}RateLimit${mark}`;

  const inPrisma = kind !== "pg" && kind !== "mysql2";
  /** What a user of this store has to do about a missing table. */
  const toDo = inPrisma
    ? "must be in the Prisma schema, and migrated"
    : `create it by the SQL in node_modules/trpc-rate-limit/prisma/${provider}/migrations`;

  async function open() {
    const database = await create();
    const opened = openStore(kind, database.url);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => opened.close());
    const limiter = createRateLimiter({ store: opened.store, limits, logger: false });
    return { run: (sql: string) => database.prisma.$executeRawUnsafe(sql), limiter };
  }

  it("says that its table is missing, also when it was dropped later", async () => {
    const { run, limiter } = await open();
    const definition = `CREATE TABLE ${table} (x INT)`;
    await run(`DROP TABLE ${table}`);
    const missing = new RegExp(`table "RateLimit" does not exist in .*${toDo}`);
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
    await expect(limiter.limit("once")).rejects.toThrow(toDo);
  });

  it("refuses a table of the same name that belongs to another package", async () => {
    const { run, limiter } = await open();
    await run(`DROP TABLE ${table}`);
    await run(
      `CREATE TABLE ${table} (id VARCHAR(50) PRIMARY KEY, ${mark}key${mark} VARCHAR(50), count INT)`,
    );
    await expect(limiter.limit("once")).rejects.toThrow(
      /is not a table of rate limits: it has no column name, shard, used, ts; .*option model/,
    );
  });

  it("says of its own table which column has another name, and blames no other package", async () => {
    const { run, limiter } = await open();
    await run(`ALTER TABLE ${table} RENAME COLUMN ${mark}key${mark} TO limit_key`);
    const failure = await limiter.limit("once").catch((error: Error) => error.message);
    expect(failure).toMatch(/has no column key; it has limit_key/);
    expect(failure).toContain(inPrisma ? "take @map off its fields" : "rename the columns");
    expect(failure).not.toContain("another package");
  });

  it("refuses columns that round numbers", async () => {
    const { run, limiter } = await open();
    await run(`DROP TABLE ${table}`);
    const text = provider === "mysql" ? "VARCHAR(192) COLLATE utf8mb4_bin" : "VARCHAR(192)";
    await run(
      `CREATE TABLE ${table} (name ${text}, ${mark}key${mark} ${text}, shard INT, ` +
        `${mark}used${mark} DECIMAL(10, 2), ts DOUBLE PRECISION)`,
    );
    await expect(limiter.limit("once")).rejects.toThrow(
      /column used of table "RateLimit" has the type .*it must be a double/,
    );
  });
});

describe.each(sharedDatabases.filter(({ provider }) => provider !== "sqlite"))(
  "a store on $name, of a table without the right key,",
  ({ kind, provider, create }) => {
    const mark = provider === "mysql" ? "`" : '"';
    const [table, key] = [`${mark}RateLimit${mark}`, `${mark}key${mark}`];
    const dropKey =
      provider === "mysql"
        ? `ALTER TABLE ${table} DROP PRIMARY KEY`
        : `ALTER TABLE ${table} DROP CONSTRAINT "RateLimit_pkey"`;
    const missing = /table "RateLimit" has no .*\(name, key, shard\).*ADD PRIMARY KEY/;

    async function open() {
      const database = await create();
      const opened = openStore(kind, database.url);
      onTestFinished(() => database[Symbol.asyncDispose]());
      onTestFinished(() => opened.close());
      const run = (sql: string) => database.prisma.$executeRawUnsafe(sql);
      await run(dropKey);
      const limiter = createRateLimiter({ store: opened.store, limits, logger: false });
      return { run, limit: () => limiter.limit("once", { key: "a" }) };
    }

    it("refuses it, and works once the key is there", async () => {
      const { run, limit } = await open();
      await expect(limit()).rejects.toThrow(missing);
      await run(`ALTER TABLE ${table} ADD PRIMARY KEY (name, ${key}, shard)`);
      expect(await limit()).toMatchObject({ ok: true });
      expect(await limit()).toMatchObject({ ok: false });
    });

    it.each([
      ["that has fewer columns", `name, ${key}`],
      ["that has more columns", `name, ${key}, shard, ts`],
    ])("refuses a key %s", async (_what, columns) => {
      const { run, limit } = await open();
      await run(`ALTER TABLE ${table} ADD PRIMARY KEY (${columns})`);
      await expect(limit()).rejects.toThrow(missing);
    });

    it("refuses an index that is not unique", async () => {
      const { run, limit } = await open();
      await run(`CREATE INDEX some_index ON ${table} (name, ${key}, shard)`);
      await expect(limit()).rejects.toThrow(missing);
    });
  },
);

describe("a store on SQLite", () => {
  it("refuses a table without a unique key", async () => {
    await using database = await createSqlite();
    const { prisma } = database;
    await prisma.$executeRaw`DROP TABLE "RateLimit"`;
    await prisma.$executeRaw`CREATE TABLE "RateLimit" ("name" TEXT, "key" TEXT,
      "shard" INTEGER, "used" REAL, "ts" REAL)`;
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, logger: false });
    await expect(limiter.limit("once")).rejects.toThrow(/PRIMARY KEY/);
  });

  it("refuses a key that ignores case", async () => {
    await using database = await createSqlite();
    const { prisma } = database;
    await prisma.$executeRaw`DROP TABLE "RateLimit"`;
    await prisma.$executeRaw`CREATE TABLE "RateLimit" ("name" TEXT, "key" TEXT COLLATE NOCASE,
      "shard" INTEGER, "used" REAL, "ts" REAL, PRIMARY KEY ("name", "key", "shard"))`;
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
  it("accepts a unique index in the place of the primary key, and refuses one of some rows only", async () => {
    await using database = await createPostgres();
    const { prisma } = database;
    await prisma.$executeRaw`ALTER TABLE "RateLimit" DROP CONSTRAINT "RateLimit_pkey"`;
    await prisma.$executeRaw`CREATE UNIQUE INDEX ON "RateLimit" (name, key, shard) WHERE shard = 0`;
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, logger: false });
    await expect(limiter.limit("once")).rejects.toThrow("has no unique key");
    await prisma.$executeRaw`CREATE UNIQUE INDEX ON "RateLimit" (key, shard, name)`;
    expect(await limiter.limit("once")).toMatchObject({ ok: true });
  });

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

describe.each(["LATIN1", "SQL_ASCII"])("a PostgreSQL database in %s", (encoding) => {
  it("is refused, so that no key that it cannot hold fails the calls beside it", async () => {
    const options = `ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`;
    await using database = await createPostgres(undefined, options);
    for (const kind of ["pg", "postgresql"] as const) {
      const { store, close } = openStore(kind, database.url);
      onTestFinished(close);
      const limiter = createRateLimiter({ store, limits, logger: false });
      const message = `the database has the encoding ${encoding}`;
      await expect(limiter.limit("once", { key: "ada" })).rejects.toThrow(message);
      const calls = ["a", "日本", "b", "c"].map((key) => limiter.limit("once", { key }));
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({ reason: { message: expect.stringContaining(message) } });
      }
    }
  });
});
