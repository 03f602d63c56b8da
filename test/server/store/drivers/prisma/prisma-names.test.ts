/** Prepared statements through Prisma's adapter for PostgreSQL, without a pool of the application. */
import { PrismaPg } from "@prisma/adapter-pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { PrismaClient } from "../../../../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import type { PrismaStoreOptions } from "../../../../../server/index.js";
import { createPostgres } from "../../../../support/database.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

type AdapterOptions = NonNullable<ConstructorParameters<typeof PrismaPg>[1]>;

/** A client with one connection. */
async function setUp(adapterOptions?: AdapterOptions) {
  const database = await createPostgres();
  const adapter = new PrismaPg({ connectionString: database.url, max: 1 }, adapterOptions);
  const prisma = new PrismaClient({ adapter });
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => prisma.$disconnect());
  const limited = (options?: PrismaStoreOptions) =>
    createRateLimiter({ store: prismaStore(prisma, options), limits, logger: false });
  /** What the connection of the client has prepared. */
  const prepared = () =>
    prisma.$queryRaw<{ name: string; statement: string }[]>`
      SELECT name, statement FROM pg_prepared_statements`;
  return { database, adapter, prisma, limited, prepared };
}

describe("prismaStore on a client whose adapter has no pool of the application", () => {
  it("prepares its own statements, once, and no others", async () => {
    const { prisma, limited, prepared } = await setUp();
    const limiter = limited();
    for (let i = 0; i < 3; i++) expect((await limiter.limit("few")).ok).toBe(true);
    await prisma.rateLimit.count();
    const seen = await prepared();
    expect(seen.filter(({ statement }) => statement.startsWith("INSERT"))).toHaveLength(1);
    for (const { name, statement } of seen) {
      expect(name).toMatch(/^rate_limit_/);
      expect(statement).toMatch(/ --named$/);
    }
  });

  it("prepares none in a transaction of the application, which a failed one would end", async () => {
    const { prisma, limited, prepared } = await setUp();
    const limiter = limited();
    await limiter.getValue("few");
    const before = await prepared();
    await prisma.$transaction((tx) => limiter.using(tx).limit("few"));
    await limiter.transaction(({ limit }) => limit("few"));
    expect(await prepared()).toEqual(before);
  });

  it("takes new names when the connection has lost what was prepared", async () => {
    const { prisma, limited, prepared } = await setUp();
    const limiter = limited();
    for (let i = 0; i < 3; i++) await limiter.limit("few");
    await prisma.$executeRaw`DEALLOCATE ALL`;
    for (let i = 0; i < 3; i++) expect((await limiter.limit("few")).ok).toBe(true);
    // While a call is slow, the connection is asked whether it answers, perhaps before the new names.
    const seen = (await prepared()).filter(({ statement }) => !/^SELECT 1\b/.test(statement));
    expect(seen).not.toEqual([]);
    for (const { statement } of seen) expect(statement).toMatch(/\/\* 1 \*\/ --named$/);
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(4);
  });

  it("takes no names any more after many losses, as behind a pooler", async () => {
    const { prisma, limited, prepared } = await setUp();
    const limiter = limited();
    for (let i = 0; i < 40; i++) {
      expect((await limiter.check("few")).ok).toBe(true);
      await prisma.$executeRaw`DEALLOCATE ALL`;
    }
    await limiter.check("few");
    expect(await prepared()).toEqual([]);
  });

  it("keeps the other options of the adapter, which it leaves alone", async () => {
    const options = { schema: "public" };
    const { adapter, limited, prepared } = await setUp(options);
    await limited().limit("few");
    expect(options).toEqual({ schema: "public" });
    expect(adapter).toMatchObject({ options });
    expect(await prepared()).not.toEqual([]);
  });

  it("prepares none with `prepare: false`, nor where the application names statements", async () => {
    const named: string[] = [];
    const options = {
      statementNameGenerator: ({ sql }: { sql: string }) => void named.push(sql),
    } as unknown as AdapterOptions;
    const { adapter, limited, prepared } = await setUp(options);
    await limited().limit("few");
    expect(await prepared()).toEqual([]);
    expect(named.some((sql) => sql.startsWith("INSERT"))).toBe(true);
    expect(adapter).toMatchObject({ options });
    const other = await setUp();
    await other.limited({ prepare: false }).limit("few");
    expect(await other.prepared()).toEqual([]);
  });

  it("serves two clients on one adapter, and one that is connected already", async () => {
    const { adapter, prisma, limited, prepared } = await setUp();
    await prisma.$connect();
    expect((await limited().limit("few")).ok).toBe(true);
    expect(await prepared()).toEqual([]);
    const second = new PrismaClient({ adapter });
    onTestFinished(() => second.$disconnect());
    const limiter = createRateLimiter({ store: prismaStore(second), limits });
    expect((await limiter.limit("few")).ok).toBe(true);
    const seen = await second.$queryRaw`SELECT name FROM pg_prepared_statements`;
    expect(seen).not.toEqual([]);
    Object.freeze(adapter);
    expect((await limited().limit("few")).ok).toBe(true);
  });
});
