import { describe, expect, it } from "vitest";
import { createRateLimiter, DAY, prismaStore } from "../../../../server/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";

const config = { kind: "fixed window", rate: 20, period: DAY, start: 0 } as const;
const limits = { posts: config, comments: config } as const;

describe.each([
  ["SQLite", createSqlite],
  ["PostgreSQL", createPostgres],
  ...(mysqlUrl === undefined ? [] : ([["MySQL or MariaDB", createMysql]] as const)),
] as const)("using on %s, in a caller's transaction", (_name, create) => {
  it("joins it: commits with it, and is gone with it", async () => {
    await using database = await create();
    const prisma = database.prisma as Awaited<ReturnType<typeof createSqlite>>["prisma"];
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
    await prisma.$transaction(async (tx) => {
      await limiter.using(tx).limit("posts", { count: 3 });
      await tx.rateLimit.create({ data: { name: "data", used: 1, ts: 0 } });
    });
    const failing = prisma.$transaction(async (tx) => {
      await tx.rateLimit.create({ data: { name: "data", key: "2", used: 1, ts: 0 } });
      await limiter.using(tx).limit("posts", { count: 3, throws: true });
      await limiter.using(tx).limitAll([{ name: "posts" }, { name: "comments" }]);
      await limiter.using(tx).reset("comments");
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    expect((await limiter.getValue("posts")).value).toBe(17);
    expect((await limiter.getValue("comments")).value).toBe(20);
    expect(await prisma.rateLimit.count({ where: { name: "data" } })).toBe(1);
  });
});

describe("on PostgreSQL at READ COMMITTED", () => {
  it("is exact inside callers' transactions, on rows that do not exist yet too", async () => {
    await using database = await createPostgres();
    const { prisma } = database;
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, timeout: 10_000 });
    for (let round = 0; round < 5; round++) {
      const key = `round ${round}`;
      const passed = await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          i % 3 === 0
            ? limiter.limit("posts", { key })
            : prisma.$transaction(
                async (tx) => {
                  await tx.$queryRaw`SELECT count(*) FROM "RateLimit"`;
                  return limiter.using(tx).limit("posts", { key });
                },
                { isolationLevel: "ReadCommitted", maxWait: 15_000, timeout: 15_000 },
              ),
        ),
      );
      expect(passed.filter(({ ok }) => ok)).toHaveLength(20);
      expect((await limiter.getValue("posts", { key })).value).toBe(0);
    }
  });
});
