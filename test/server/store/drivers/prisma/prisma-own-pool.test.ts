/** The pool that `prismaStore(prisma, { pool: "own" })` makes from the settings of Prisma's adapter. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { PrismaClient } from "../../../../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import { bundleProgram } from "../../../../support/bundle-program.js";
import { createPostgres, createSqlite } from "../../../../support/database.js";
import { connectPrisma6, hasPrisma6 } from "../../../../support/prisma-6.js";
import { recordStatements } from "../../../../support/record-statements.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

type AdapterOptions = ConstructorParameters<typeof PrismaPg>[1];

async function setUp(settings: pg.PoolConfig = {}, options: AdapterOptions = {}) {
  const database = await createPostgres();
  const name = "own pool";
  const connection = { connectionString: database.url, application_name: name };
  const adapter = new PrismaPg({ ...connection, ...settings }, options);
  const prisma = new PrismaClient({ adapter });
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => prisma.$disconnect());
  const throughPrisma = new Set<string>();
  const open = () => {
    const client = recordStatements(prisma, throughPrisma) as PrismaClient;
    const store = prismaStore(client, { pool: "own" });
    return createRateLimiter({ store, limits, logger: false });
  };
  /** How many connections there are, of the store and of the client. */
  const connections = async () => {
    const [row] = await database.prisma.$queryRaw<{ n: number }[]>`
      SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = ${name}`;
    return row!.n;
  };
  return { database, adapter, prisma, limiter: open(), open, connections, throughPrisma };
}

describe('prismaStore(prisma, { pool: "own" })', () => {
  it("sends single decisions through at most four connections, and none through Prisma", async () => {
    const { limiter, connections, throughPrisma } = await setUp({ max: 30 });
    const calls = Array.from({ length: 200 }, (_, i) => limiter.limit("few", { key: `${i % 20}` }));
    expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
    expect([...throughPrisma]).toEqual([]);
    expect(await connections()).toBeGreaterThan(0);
    expect(await connections()).toBeLessThanOrEqual(4);
  });

  it("grants exactly what there is to many calls at once, of several stores", async () => {
    const { limiter, open } = await setUp();
    const others = [limiter, open(), open()];
    const calls = Array.from({ length: 60 }, (_, i) => others[i % 3]!.limit("few"));
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(10);
  });

  it("opens no more connections than the adapter may", async () => {
    const { limiter, connections } = await setUp({ max: 1 });
    const keys = Array.from({ length: 50 }, (_, i) => `${i}`);
    await Promise.all(keys.map((key) => limiter.limitAll([{ name: "few", key }])));
    expect(await connections()).toBe(1);
  });

  it("changes nothing of the adapter", async () => {
    const { adapter, limiter } = await setUp();
    const before = Object.entries(adapter);
    Object.freeze(adapter);
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect(Object.entries(adapter)).toEqual(before);
  });

  it("follows the schema of the adapter and the search path of its settings", async () => {
    for (const [settings, options] of [
      [{}, { schema: "tenant" }],
      [{ options: "-c search_path=tenant" }, {}],
    ] as const) {
      const { database, limiter } = await setUp(settings, options);
      await database.prisma.$executeRaw`CREATE SCHEMA tenant`;
      await database.prisma
        .$executeRaw`CREATE TABLE tenant."RateLimit" (LIKE public."RateLimit" INCLUDING ALL)`;
      await limiter.limit("few");
      expect(await database.prisma.$queryRaw`SELECT 1 FROM tenant."RateLimit"`).toHaveLength(1);
      expect(await database.prisma.$queryRaw`SELECT 1 FROM public."RateLimit"`).toHaveLength(0);
    }
  });

  it("keeps `transaction` and `using` in transactions of Prisma", async () => {
    const { database, prisma, limiter } = await setUp();
    await database.prisma.$executeRaw`CREATE TABLE posts (id int)`;
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
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    expect(await database.prisma.$queryRaw`SELECT id FROM posts`).toHaveLength(1);
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(9);
  });

  it("ends with the client's `$disconnect`, and opens again for a later call", async () => {
    const { prisma, limiter, connections } = await setUp({ idleTimeoutMillis: MINUTE });
    for (let round = 1; round <= 3; round++) {
      expect(await limiter.limit("few")).toMatchObject({ ok: true });
      expect(await connections()).toBeGreaterThan(0);
      await prisma.$disconnect();
      await vi.waitUntil(async () => (await connections()) === 0);
    }
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(7);
  });

  it("lets the process end that has disconnected nothing", async () => {
    const { database } = await setUp();
    const program = await bundleProgram(
      new URL("../../../../support/own-pool.ts", import.meta.url),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [program, database.url], {
      timeout: 15_000,
    });
    expect(stdout).toBe("true\n");
  });

  it("goes on after the database has closed its connections", async () => {
    const { database, limiter } = await setUp();
    for (let round = 0; round < 3; round++) {
      await limiter.limit("few", { key: "other" });
      await database.prisma.$queryRaw`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      // A call that was on the way may fail.
      const isGranted = () => limiter.limit("few", { key: "lost" }).then(Boolean, () => false);
      await vi.waitUntil(isGranted);
    }
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
  });

  it("says that the database cannot be reached", async () => {
    const { limiter, adapter } = await setUp();
    const { config } = adapter as unknown as { config: pg.PoolConfig };
    config.connectionString = "postgresql://nowhere@127.0.0.1:1/none";
    await expect(limiter.limit("few")).rejects.toMatchObject({ kind: "StoreFailure" });
  });

  // Without the project of Prisma 6, `test/drivers/prisma-6.test.ts` reports a skipped test.
  it.runIf(hasPrisma6)("is opened with the settings of the adapter of Prisma 6, too", async () => {
    const { database } = await setUp();
    const prisma = connectPrisma6("postgresql", database.url, 2);
    const texts = new Set<string>();
    const client = recordStatements(prisma as never, texts) as typeof prisma;
    const limiter = createRateLimiter({ store: prismaStore(client, { pool: "own" }), limits });
    for (let i = 0; i < 3; i++) expect(await limiter.limit("few")).toMatchObject({ ok: true });
    expect([...texts]).toEqual([]);
    await prisma.$disconnect();
  });

  it("is refused for a client without such an adapter", async () => {
    await using sqlite = await createSqlite();
    expect(() => prismaStore(sqlite.prisma, { pool: "own" })).toThrow(
      'pool: "own" needs a client with the adapter PrismaPg of @prisma/adapter-pg',
    );
  });
});
