import { afterEach, expect, it, vi } from "vitest";
import { createRateLimiter, MINUTE, prismaStore, SECOND } from "../../../server/index.js";
import { loggerOf, OutageLog } from "../../../server/report/logger.js";
import { createSqlite } from "../../support/database.js";

const limits = { many: { kind: "token bucket", rate: 100, period: MINUTE } } as const;

afterEach(() => void vi.restoreAllMocks());

it("reports the cause of an outage once, and that of the next outage again", async () => {
  await using database = await createSqlite();
  const { prisma } = database;
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
  const fail = async () => {
    const calls = ["a", "b", "c"].map((key) => limiter.limit("many", { key }));
    const settled = await Promise.allSettled([
      ...calls,
      limiter.transaction(({ limit }) => limit("many")),
    ]);
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
  };
  await prisma.$executeRaw`ALTER TABLE "RateLimit" RENAME TO "Hidden"`;
  await fail();
  await fail();
  expect(error).toHaveBeenCalledTimes(1);
  const [message, cause] = error.mock.calls[0]!;
  expect(message).toContain('table "RateLimit" does not exist');
  expect(cause).toHaveProperty("cause");
  await prisma.$executeRaw`ALTER TABLE "Hidden" RENAME TO "RateLimit"`;
  await limiter.limit("many");
  await prisma.$executeRaw`ALTER TABLE "RateLimit" RENAME TO "Hidden"`;
  await fail();
  expect(error).toHaveBeenCalledTimes(2);
});

it("reports to the given logger, or to none, and ignores its failure", async () => {
  await using database = await createSqlite();
  await database.prisma.$executeRaw`DROP TABLE "RateLimit"`;
  const consoleError = vi.spyOn(console, "error");
  const error = vi.fn(() => {
    throw new Error("the logger is down");
  });
  for (const logger of [{ error, warn: vi.fn() }, false] as const) {
    const limiter = createRateLimiter({ store: prismaStore(database.prisma), limits, logger });
    await expect(limiter.limit("many")).rejects.toThrow("does not exist");
  }
  expect(error).toHaveBeenCalledTimes(1);
  expect(consoleError).not.toHaveBeenCalled();
});

it("reports neither denials nor the mistakes of callers", async () => {
  await using database = await createSqlite();
  const logger = { error: vi.fn(), warn: vi.fn() };
  const limiter = createRateLimiter({ store: prismaStore(database.prisma), limits, logger });
  await limiter.limit("many", { count: 100 });
  await limiter.limit("many", { throws: true }).catch(() => {});
  await limiter.limit("unknown" as never).catch(() => {});
  await limiter.limit("many", { key: "" }).catch(() => {});
  await limiter.limit("many", { count: 1000 }).catch(() => {});
  await limiter.transaction(() => Promise.reject(new Error("the application's"))).catch(() => {});
  expect(logger.error).not.toHaveBeenCalled();
});

it("does not flood the log when a store fails and recovers all the time", () => {
  let now = 0;
  const error = vi.fn();
  const outage = new OutageLog(loggerOf({ error, warn: error }), () => now);
  for (let i = 0; i < 1000; i++) {
    now += SECOND / 10;
    outage.failed(new Error("flapping"));
    outage.end();
  }
  expect(error.mock.calls.length).toBeGreaterThan(5);
  expect(error.mock.calls.length).toBeLessThan(20);
});
