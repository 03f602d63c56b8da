/** The pool of `new PrismaPg(pool)`, which `prismaStore(prisma)` uses by itself. */
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { PrismaClient } from "../../../../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import type { PrismaStoreOptions } from "../../../../../server/index.js";
import { createPostgres } from "../../../../support/database.js";
import { recordStatements } from "../../../../support/record-statements.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

type AdapterOptions = ConstructorParameters<typeof PrismaPg>[1];

async function setUp(adapterOptions: AdapterOptions = {}, poolOptions: pg.PoolConfig = {}) {
  const database = await createPostgres();
  const pool = new pg.Pool({ connectionString: database.url, max: 2, ...poolOptions });
  const adapter = new PrismaPg(pool, adapterOptions);
  const clients: PrismaClient[] = [];
  const connect = () => {
    const client = new PrismaClient({ adapter });
    clients.push(client);
    return client;
  };
  onTestFinished(async () => {
    // The database is dropped before the last connection has ended.
    pool.on("error", () => {});
    await Promise.all(clients.map((client) => client.$disconnect()));
    if (!pool.ending) await pool.end();
    await database[Symbol.asyncDispose]();
  });
  const prisma = connect();
  return { database, pool, adapter, prisma, connect };
}

/** A limiter, and the statements that its store sends through Prisma. */
function limited(prisma: PrismaClient, options?: PrismaStoreOptions) {
  const throughPrisma = new Set<string>();
  const store = prismaStore(recordStatements(prisma, throughPrisma) as PrismaClient, options);
  const limiter = createRateLimiter({ store, limits, logger: false });
  return { limiter, throughPrisma };
}

async function preparedIn(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>("SELECT name FROM pg_prepared_statements");
  return rows.map(({ name }) => name);
}

describe("prismaStore on a client whose adapter has a pool of the application", () => {
  it("sends single decisions to the pool, prepared, and opens no other connection", async () => {
    const { database, pool, prisma } = await setUp({}, { max: 1 });
    const { limiter, throughPrisma } = limited(prisma);
    for (let i = 0; i < 3; i++) expect((await limiter.limit("few")).ok).toBe(true);
    expect(await limiter.check("few", { count: 8 })).toMatchObject({ ok: false });
    expect([...throughPrisma]).toEqual([]);
    expect(await preparedIn(pool)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^rate_limit_/)]),
    );
    // Those of the database of the test, without the client that made it.
    await database.prisma.$disconnect();
    const count = async () => {
      const { rows } = await pool.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()",
      );
      return rows.length;
    };
    await vi.waitUntil(async () => (await count()) === 1, { timeout: 10_000 });
  });

  it("does so if the client was connected before", async () => {
    const { prisma } = await setUp();
    await prisma.$connect();
    const { limiter, throughPrisma } = limited(prisma);
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect([...throughPrisma]).toEqual([]);
  });

  it("changes neither the adapter nor the pool, apart from listeners", async () => {
    const { pool, adapter, prisma } = await setUp();
    const before = [adapter, pool].map((each) => Object.entries(each));
    const { limiter } = limited(prisma);
    const after = [adapter, pool].map((each) => Object.entries(each));
    expect(after.map((each) => each.map(([name]) => name))).toEqual(
      before.map((each) => each.map(([name]) => name)),
    );
    for (const [i, entries] of before.entries()) {
      for (const [j, [name, value]] of entries.entries()) {
        if (!name.startsWith("_event")) expect(after[i]![j]![1]).toBe(value);
      }
    }
    Object.freeze(adapter);
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
  });

  it("goes on after a `$disconnect`, and after the client has connected again", async () => {
    const { prisma } = await setUp();
    const { limiter } = limited(prisma);
    await limiter.limit("few");
    await prisma.$disconnect();
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    await prisma.$connect();
    await limiter.transaction(({ limit }) => limit("few", { throws: true }));
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(7);
  });

  it("goes on through Prisma after a `$disconnect` has ended the pool", async () => {
    const { pool, prisma } = await setUp({ disposeExternalPool: true });
    const { limiter, throughPrisma } = limited(prisma);
    await prisma.$connect();
    await limiter.limit("few");
    expect(throughPrisma.size).toBe(0);
    const disconnected = prisma.$disconnect();
    await vi.waitUntil(() => pool.ending, { interval: 0 });
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    await disconnected;
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect(throughPrisma.size).toBeGreaterThan(0);
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(7);
  });

  it("follows the schema of the adapter and the search path of the pool", async () => {
    for (const [options, poolOptions] of [
      [{ schema: "tenant" }, {}],
      [{}, { options: "-c search_path=tenant" }],
    ] as const) {
      const { database, prisma } = await setUp(options, poolOptions);
      await database.prisma.$executeRaw`CREATE SCHEMA tenant`;
      await database.prisma
        .$executeRaw`CREATE TABLE tenant."RateLimit" (LIKE public."RateLimit" INCLUDING ALL)`;
      const { limiter, throughPrisma } = limited(prisma);
      await limiter.limit("few");
      expect([...throughPrisma]).toEqual([]);
      expect(await database.prisma.$queryRaw`SELECT 1 FROM tenant."RateLimit"`).toHaveLength(1);
      expect(await database.prisma.$queryRaw`SELECT 1 FROM public."RateLimit"`).toHaveLength(0);
    }
  });

  it("leaves the errors of the pool to those that listened before", async () => {
    const heard: string[] = [];
    const { pool, prisma } = await setUp({ onPoolError: () => heard.push("adapter") });
    pool.on("error", () => heard.push("application"));
    await prisma.$connect();
    const warn = vi.fn();
    const logger = { warn, error: vi.fn() };
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, logger });
    await limiter.limit("few");
    pool.emit("error", new Error("gone"), undefined as never);
    expect(heard.toSorted()).toEqual(["adapter", "application"]);
    expect(warn).not.toHaveBeenCalled();
  });

  it("keeps `transaction` and `using` in transactions of Prisma", async () => {
    const { pool, prisma } = await setUp();
    await pool.query("CREATE TABLE posts (id int)");
    const { limiter } = limited(prisma);
    const post = (fails: boolean) =>
      limiter.transaction(async ({ tx, limit }) => {
        await limit("few", { throws: true });
        await tx.$executeRaw`INSERT INTO posts VALUES (1)`;
        if (fails) throw new Error("post failed");
      });
    await post(false);
    await expect(post(true)).rejects.toThrow("post failed");
    const rolledBack = prisma.$transaction(async (tx) => {
      await limiter.using(tx).limit("few", { count: 4 });
      await tx.$executeRaw`INSERT INTO posts VALUES (2)`;
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    expect((await pool.query("SELECT id FROM posts")).rows).toEqual([{ id: 1 }]);
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(9);
  });

  it("serves several clients of one adapter, also when one of them disconnects", async () => {
    const { prisma, connect } = await setUp();
    const other = connect();
    const [first, second] = [limited(prisma), limited(other)];
    await Promise.all([prisma.$connect(), other.$connect()]);
    await Promise.all([first.limiter.limit("few"), second.limiter.limit("few")]);
    await prisma.$disconnect();
    expect(await second.limiter.limit("few")).toMatchObject({ ok: true });
    expect(Math.floor((await second.limiter.getValue("few")).value)).toBe(7);
    expect([...first.throughPrisma, ...second.throughPrisma]).toEqual([]);
  });

  it("goes on after the database has closed its connections", async () => {
    const { database, pool, prisma } = await setUp();
    pool.on("error", () => {});
    const { limiter } = limited(prisma);
    await Promise.all([limiter.limit("few"), limiter.limit("few", { key: "other" })]);
    for (let round = 0; round < 3; round++) {
      await database.prisma.$queryRaw`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      // A call that was on the way may fail.
      await vi.waitUntil(() =>
        limiter.limit("few", { key: "lost" }).then(
          () => true,
          () => false,
        ),
      );
    }
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
  });

  it("goes on after the application has run DISCARD ALL on the connection", async () => {
    const { pool, prisma } = await setUp({}, { max: 1 });
    const { limiter } = limited(prisma);
    for (let i = 0; i < 4; i++) await limiter.limit("few");
    await pool.query("DISCARD ALL");
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(4);
  });

  it("prepares nothing with `prepare: false`", async () => {
    const { pool, prisma } = await setUp({}, { max: 1 });
    const { limiter, throughPrisma } = limited(prisma, { prepare: false });
    for (let i = 0; i < 3; i++) await limiter.limit("few");
    expect([...throughPrisma]).toEqual([]);
    expect(await preparedIn(pool)).toEqual([]);
  });

  it("also decides in transactions of its own", async () => {
    const { prisma } = await setUp();
    const { limiter, throughPrisma } = limited(prisma, { isolation: "serializable" });
    await Promise.all([1, 2, 3].map(() => limiter.limit("few", { throws: true })));
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(7);
    expect([...throughPrisma]).toEqual([]);
  });
});

describe("prismaStore stays with Prisma", () => {
  it("if the adapter has opened the pool, or with `pool: false`", async () => {
    const { database, prisma } = await setUp();
    for (const [client, options] of [
      [database.prisma, {}],
      [prisma, { pool: false }],
    ] as const) {
      const { limiter, throughPrisma } = limited(client, options);
      expect(await limiter.limit("few")).toMatchObject({ ok: true });
      expect(throughPrisma.size).toBeGreaterThan(0);
    }
  });

  it("if an extension of the client hooks into raw queries, so that it sees what it saw", async () => {
    const { prisma } = await setUp();
    const seen: string[] = [];
    const see = ({ operation, args, query }: Hook) => {
      seen.push(operation);
      return query(args);
    };
    const hooked = [
      prisma.$extends({ query: { $allOperations: see as never } }),
      prisma.$extends({ query: { $queryRawUnsafe: see as never } }),
      prisma.$extends({ query: { $queryRawUnsafe: see as never } }).$extends({ name: "other" }),
    ];
    for (const client of hooked) {
      seen.length = 0;
      const limiter = createRateLimiter({ store: prismaStore(client), limits, logger: false });
      expect(await limiter.limit("few")).toMatchObject({ ok: true });
      expect(seen).toContain("$queryRawUnsafe");
    }
  });

  it("but not if an extension is about models", async () => {
    const { pool, prisma } = await setUp({}, { max: 1 });
    const seen: string[] = [];
    const extended = prisma.$extends({
      client: { $hello: () => "hello" },
      query: {
        $allModels: {
          $allOperations({ operation, args, query }) {
            seen.push(operation);
            return query(args);
          },
        },
      },
    });
    const limiter = createRateLimiter({ store: prismaStore(extended), limits, logger: false });
    for (let i = 0; i < 3; i++) await limiter.limit("few");
    expect(seen).toEqual([]);
    expect((await preparedIn(pool)).length).toBeGreaterThan(0);
  });
});

interface Hook {
  operation: string;
  args: unknown;
  query(args: unknown): unknown;
}
