/**
 * The contenders, each behind one function that takes a token of a key. All contenders count down from a
 * number of tokens that no run exhausts, unless the scenario is about denied calls. Nothing refills
 * meanwhile, so that every grant has to show in the rows afterwards.
 */
import mysql from "mysql2";
import { RateLimiterMySQL, RateLimiterPostgres, RateLimiterPrisma } from "rate-limiter-flexible";
import {
  createRateLimiter,
  DAY,
  mysqlStore,
  pgStore,
  prismaStore,
  type RateLimitStore,
} from "trpc-rate-limit/server";
import { bareCalls } from "./bare-calls.js";
import { contended } from "./contended.js";
import { connectMysql, connectPool, connectPostgres, connectSqlite } from "./databases.js";
import { leased } from "./leased.js";
import { redis } from "./redis.js";
import { tiered } from "./tiered.js";

export interface Contender {
  /** Takes one token. Resolves with whether the token was granted. Rejects when the contender fails. */
  take(key: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface Kind {
  open(tokens: number, url: string): Promise<Contender>;
  /**
   * SQL that selects, as `n`, the tokens that were taken by the rows. Absent where nothing is limited.
   */
  account?(tokens: number): string;
  /** The same number as `account`, where there is no SQL. */
  count?(tokens: number, url: string, keys: readonly string[]): Promise<number>;
}

const YEAR = 365 * DAY;

/**
 * A contender of this package, with the default timeout, so that a call that waits too long counts as
 * failed.
 */
function ours(
  name: string,
  store: unknown,
  tokens: number,
  close: () => Promise<void>,
  rememberDenials = 0,
): Contender {
  const limiter = createRateLimiter({
    store: store as RateLimitStore,
    rememberDenials,
    limits: { [name]: { kind: "fixed window", rate: tokens, period: 1000 * YEAR, start: 0 } },
  });
  return { take: (key) => limiter.limit(name, { key }).then(({ ok }) => ok), close };
}

async function openPeer(
  tokens: number,
  url: string,
  more: { inMemoryBlockOnConsumed?: number } = {},
): Promise<Contender> {
  const pool = connectPool(url);
  const limiter = await new Promise<RateLimiterPostgres>((resolve, reject) => {
    const made = new RateLimiterPostgres(
      {
        storeClient: pool,
        points: tokens,
        duration: YEAR / 1000,
        tableName: "rlf",
        clearExpiredByTimeout: false,
        ...more,
      },
      (error?: Error) => (error ? reject(error) : resolve(made)),
    );
  });
  return {
    take: (key) => limiter.consume(key).then(() => true, denied),
    close: () => pool.end(),
  };
}

/**
 * A contender that yields after every 64 calls. An answer from memory waits for nothing. Without the
 * yield, callers that go on at once would keep the process from reading the answers of the database.
 */
export function yielding({ take, close }: Contender): Contender {
  let calls = 0;
  return {
    async take(key) {
      if (++calls % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
      return take(key);
    },
    close,
  };
}

/** Each contender has a limit of its own, because contenders share a table. */
const takenFromOurs = (name: string, quote: string) =>
  `SELECT sum(used) AS n FROM ${quote}RateLimit${quote} WHERE name = '${name}'`;

export const contenders: Record<string, Kind> = {
  ...bareCalls,
  ...contended,
  ...leased,
  ...redis,
  ...tiered,

  "ours, pg": {
    async open(tokens, url) {
      const pool = connectPool(url);
      return ours("pg", pgStore(pool), tokens, () => pool.end());
    },
    account: () => takenFromOurs("pg", '"'),
  },

  "ours, Prisma": {
    async open(tokens, url) {
      const prisma = connectPostgres(url);
      return ours("prisma", prismaStore(prisma), tokens, () => prisma.$disconnect());
    },
    account: () => takenFromOurs("prisma", '"'),
  },

  /** As `init` writes it. The store's pool closes itself while nobody calls. */
  "ours, Prisma, own pool": {
    async open(tokens, url) {
      const prisma = connectPostgres(url);
      const store = prismaStore(prisma, { pool: "own" });
      return ours("own", store, tokens, () => prisma.$disconnect());
    },
    account: () => takenFromOurs("own", '"'),
  },

  "rate-limiter-flexible, PostgreSQL": {
    open: openPeer,
    account: () => "SELECT sum(points) AS n FROM rlf",
  },

  "ours, pg, remembering denials": {
    async open(tokens, url) {
      const pool = connectPool(url);
      const store = pgStore(pool);
      return yielding(ours("remembering", store, tokens, () => pool.end(), DAY));
    },
    account: () => takenFromOurs("remembering", '"'),
  },

  /** Blocks denied keys until the end of their window, in the process that was denied. */
  "rate-limiter-flexible, blocking in memory": {
    async open(tokens, url) {
      return yielding(await openPeer(tokens, url, { inMemoryBlockOnConsumed: tokens }));
    },
    // Denied calls count, too.
    account: (tokens) => `SELECT sum(least(points, ${tokens})) AS n FROM rlf`,
  },

  "rate-limiter-flexible, Prisma": {
    async open(tokens, url) {
      const prisma = connectPostgres(url);
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
    account: () => `SELECT sum("points") AS n FROM "RateLimiterFlexible"`,
  },

  "one Serializable transaction per call": {
    async open(tokens, url) {
      const prisma = connectPostgres(url);
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
      return { take: (key) => retrying(() => attempt(key)), close: () => prisma.$disconnect() };
    },
    account: (tokens) => `SELECT sum(${tokens} - "value") AS n FROM "Naive"`,
  },

  /** No limiter: the cost of a round trip through Prisma. */
  "bare $queryRaw, SELECT 1": {
    async open(_tokens, url) {
      const prisma = connectPostgres(url);
      return {
        take: async () => (await prisma.$queryRaw`SELECT 1`) !== undefined,
        close: () => prisma.$disconnect(),
      };
    },
  },

  "ours, Prisma on MariaDB": {
    async open(tokens, url) {
      const prisma = connectMysql(url);
      return ours("prisma", prismaStore(prisma), tokens, () => prisma.$disconnect());
    },
    account: () => takenFromOurs("prisma", "`"),
  },

  "ours, mysql2": {
    async open(tokens, url) {
      const pool = mysql.createPool({ uri: url, connectionLimit: 10 }).promise();
      return ours("mysql2", mysqlStore(pool), tokens, () => pool.end());
    },
    account: () => takenFromOurs("mysql2", "`"),
  },

  "rate-limiter-flexible, MySQL": {
    async open(tokens, url) {
      const pool = mysql.createPool({ uri: url, connectionLimit: 10 });
      const limiter = await new Promise<RateLimiterMySQL>((resolve, reject) => {
        const made = new RateLimiterMySQL(
          {
            storeClient: pool,
            points: tokens,
            duration: YEAR / 1000,
            dbName: new URL(url).pathname.slice(1),
            tableName: "rlf",
            clearExpiredByTimeout: false,
          },
          (error?: Error) => (error ? reject(error) : resolve(made)),
        );
      });
      return {
        take: (key) => limiter.consume(key).then(() => true, denied),
        close: () => pool.promise().end(),
      };
    },
    account: () => "SELECT sum(points) AS n FROM rlf",
  },

  "ours, Prisma on SQLite": {
    async open(tokens, url) {
      const prisma = connectSqlite(url);
      return ours("prisma", prismaStore(prisma), tokens, () => prisma.$disconnect());
    },
    account: () => takenFromOurs("prisma", '"'),
  },

  "one transaction per call, SQLite": {
    async open(tokens, url) {
      const prisma = connectSqlite(url);
      const attempt = (key: string) =>
        prisma.$transaction(
          async (tx) => {
            const id = { name: "naive", key, shard: 0 };
            const row = await tx.rateLimit.findFirst({ where: id });
            const used = row?.used ?? 0;
            if (used > tokens - 1) return false;
            const data = { used: used + 1, ts: 0 };
            await tx.rateLimit.upsert({
              where: { name_key_shard: id },
              create: { ...id, ...data },
              update: data,
            });
            return true;
          },
          { maxWait: 30_000, timeout: 30_000 },
        );
      return { take: (key) => retrying(() => attempt(key)), close: () => prisma.$disconnect() };
    },
    account: () => `SELECT sum(used) AS n FROM "RateLimit" WHERE name = 'naive'`,
  },
};

export function denied(reason: unknown): false {
  // A denial has no message; a failure is an Error.
  if (reason instanceof Error) throw reason;
  return false;
}

async function retrying<TResult>(run: () => Promise<TResult>): Promise<TResult> {
  for (let tries = 0; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.random() * Math.min(2 ** tries, 500)),
      );
    }
  }
}
