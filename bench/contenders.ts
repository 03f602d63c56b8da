/**
 * What is compared, each behind one function that takes a token of a key. All of them count down
 * from a number of tokens that no run exhausts, unless the scenario is about denied calls; nothing
 * refills meanwhile, so that every grant has to show in the rows afterwards.
 */
import { RateLimiterPostgres, RateLimiterPrisma } from "rate-limiter-flexible";
import { createRateLimiter, DAY, prismaStore } from "trpc-rate-limit/server";
import { connectPool, connectPrisma } from "./database.js";

export interface Contender {
  /** Takes one token; whether it was granted. Rejects when the contender fails. */
  take(key: string): Promise<boolean>;
  close(): Promise<void>;
}

const YEAR = 365 * DAY;

export const contenders: Record<string, (tokens: number) => Promise<Contender>> = {
  async "trpc-rate-limit"(tokens) {
    const prisma = connectPrisma();
    const limiter = createRateLimiter({
      store: prismaStore(prisma),
      timeout: 30_000,
      limits: { bench: { kind: "fixed window", rate: tokens, period: 1000 * YEAR, start: 0 } },
    });
    return {
      take: (key) => limiter.limit("bench", { key }).then(({ ok }) => ok),
      close: () => prisma.$disconnect(),
    };
  },

  async "rate-limiter-flexible, PostgreSQL"(tokens) {
    const pool = connectPool();
    const limiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
      const made = new RateLimiterPostgres(
        {
          storeClient: pool,
          points: tokens,
          duration: YEAR / 1000,
          tableName: "rlf",
          clearExpiredByTimeout: false,
        },
        (error?: Error) => (error ? reject(error) : resolve(made)),
      );
    });
    return {
      take: (key) => limiter.consume(key).then(() => true, denied),
      close: () => pool.end(),
    };
  },

  async "rate-limiter-flexible, Prisma"(tokens) {
    const prisma = connectPrisma();
    const limiter = new RateLimiterPrisma({
      storeClient: prisma,
      points: tokens,
      duration: YEAR / 1000,
      clearExpiredByTimeout: false,
    });
    return {
      take: (key) => limiter.consume(key).then(() => true, denied),
      close: () => prisma.$disconnect(),
    };
  },

  async "one Serializable transaction per call"(tokens) {
    const prisma = connectPrisma();
    const attempt = (key: string) =>
      prisma.$transaction(
        async (tx) => {
          const row = await tx.naive.findUnique({ where: { key } });
          const value = row?.value ?? tokens;
          if (value < 1) return false;
          const data = { key, value: value - 1 };
          await tx.naive.upsert({ where: { key }, create: data, update: data });
          return true;
        },
        { isolationLevel: "Serializable", maxWait: 30_000, timeout: 30_000 },
      );
    return {
      async take(key) {
        for (let tries = 0; ; tries++) {
          try {
            return await attempt(key);
          } catch (error) {
            if (tries === 100) throw error;
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** tries));
          }
        }
      },
      close: () => prisma.$disconnect(),
    };
  },

  /** No limiter: what a round trip through Prisma costs. */
  async "bare $queryRaw, SELECT 1"() {
    const prisma = connectPrisma();
    return {
      take: async () => (await prisma.$queryRaw`SELECT 1`) !== undefined,
      close: () => prisma.$disconnect(),
    };
  },

  /** No limiter: what a round trip costs that leaves something durable behind. */
  async "bare $queryRaw, UPDATE of one row"() {
    const prisma = connectPrisma();
    await prisma.naive.create({ data: { key: "bare", value: 0 } });
    return {
      async take() {
        await prisma.$queryRaw`UPDATE "Naive" SET "value" = "value" + 1 WHERE "key" = ${"bare"}`;
        return true;
      },
      close: () => prisma.$disconnect(),
    };
  },
};

function denied(reason: unknown): false {
  // A denial has no message; a failure is an Error.
  if (reason instanceof Error) throw reason;
  return false;
}

/** Tokens that each contender's rows say were taken. */
export const accounts: Record<string, (tokens: number) => string> = {
  "trpc-rate-limit": (tokens) => `SELECT sum(${tokens} - "value") AS "taken" FROM "RateLimit"`,
  "rate-limiter-flexible, PostgreSQL": () => `SELECT sum("points") AS "taken" FROM "rlf"`,
  "rate-limiter-flexible, Prisma": () =>
    `SELECT sum("points") AS "taken" FROM "RateLimiterFlexible"`,
  "one Serializable transaction per call": (tokens) =>
    `SELECT sum(${tokens} - "value") AS "taken" FROM "Naive" WHERE "key" <> 'bare'`,
};
