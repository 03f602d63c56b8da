import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, prismaStore } from "../../server/index.js";
import { createSqlite } from "../support/database.js";
import { NO_BETTER_SQLITE3 } from "../support/open-sqlite.js";
import { connectBetterSqlite3, hasPrismaBetterSqlite3 } from "../support/prisma-better-sqlite3.js";
import { describeSqlStore } from "../server/store/sql-contract.js";

const limits = { few: { kind: "fixed window", rate: 10, period: DAY } } as const;

async function setUp() {
  const database = await createSqlite();
  const prisma = connectBetterSqlite3(database.url);
  const other = connectBetterSqlite3(database.url);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(async () => void (await Promise.all([prisma.$disconnect(), other.$disconnect()])));
  const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
  /** The committed state, which is what another process sees. */
  const committed = async () => (await other.rateLimit.findFirst())?.used;
  return { prisma, other, limiter, committed };
}

if (hasPrismaBetterSqlite3) {
  describeSqlStore("prisma better-sqlite3", "prismaStore on better-sqlite3", createSqlite);

  describe("prismaStore on better-sqlite3", () => {
    it("answers no call while the file has no write-ahead log, and all of them then", async () => {
      const { prisma, limiter, committed } = await setUp();
      await prisma.$queryRaw`PRAGMA journal_mode = DELETE`;
      const message = /run PRAGMA journal_mode = WAL once/;
      await expect(limiter.limit("few")).rejects.toThrow(message);
      await expect(limiter.transaction(({ limit }) => limit("few"))).rejects.toThrow(message);
      expect(await committed()).toBeUndefined();
      await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
      expect(await limiter.limit("few")).toMatchObject({ ok: true, value: 9 });
      expect(await committed()).toBe(1);
    });

    it("keeps what it has granted while the application rolls a transaction back", async () => {
      const { prisma, limiter, committed } = await setUp();
      await limiter.limit("few");
      let granted: Promise<{ ok: boolean }> | undefined;
      const rolledBack = prisma.$transaction(async (tx) => {
        await tx.rateLimit.create({ data: { name: "own", key: "", shard: 0, used: 0, ts: 0 } });
        granted = limiter.limit("few");
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new Error("rolled back");
      });
      await expect(rolledBack).rejects.toThrow("rolled back");
      expect(await granted).toMatchObject({ ok: true, value: 8 });
      expect(await committed()).toBe(2);
    });

    it("keeps what it has granted while its own transaction is rolled back", async () => {
      const { limiter, committed } = await setUp();
      await limiter.limit("few");
      let granted: Promise<{ ok: boolean }> | undefined;
      const rolledBack = limiter.transaction(async ({ limit }) => {
        await limit("few", { count: 5 });
        granted = limiter.limit("few");
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new Error("rolled back");
      });
      await expect(rolledBack).rejects.toThrow("rolled back");
      expect(await granted).toMatchObject({ ok: true, value: 8 });
      expect(await committed()).toBe(2);
    });

    it("goes on after transactions that met another writer", async () => {
      const { other, limiter, committed } = await setUp();
      await limiter.limit("few");
      await other.$transaction(async (tx) => {
        await tx.$executeRaw`UPDATE "RateLimit" SET ts = ts`;
        const busy = limiter.transaction(({ limit }) => limit("few"), { retryFor: 0 });
        await expect(busy).rejects.toThrow(/locked/);
      });
      expect(await limiter.transaction(({ limit }) => limit("few"))).toMatchObject({ value: 8 });
      expect(await limiter.limit("few")).toMatchObject({ ok: true, value: 7 });
      expect(await committed()).toBe(3);
    });
  });
} else {
  describe("prismaStore on better-sqlite3", () => {
    it("passes the contract of stores", ({ skip }) => skip(NO_BETTER_SQLITE3));
  });
}
