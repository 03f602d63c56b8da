import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, DAY, pgStore, prismaStore } from "../../../../server/index.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../support/database.js";
import { connectPool } from "../../../support/open-store.js";

const limits = {
  posts: { kind: "token bucket", rate: 1e6, period: DAY, capacity: 1e6 },
} as const;

/** How long a caller holds the row, ms. */
const HOLD = 10;
const TIMES = 4;

interface Subject {
  /** Takes a token in a transaction that the application owns, and holds the row for a while. */
  using(): Promise<unknown>;
  /** Takes a token in `limiter.transaction`, and holds the row for a while. */
  transaction(): Promise<unknown>;
  value(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function throughPrisma(create: typeof createPostgres | typeof createMysql): Promise<Subject> {
  const database = await create();
  const prisma = database.prisma as Awaited<ReturnType<typeof createPostgres>>["prisma"];
  const limiter = createRateLimiter({
    store: prismaStore(prisma),
    limits,
    clock: createManualClock(),
  });
  return {
    using: () =>
      prisma.$transaction(
        async (tx) => {
          await limiter.using(tx).limit("posts");
          await setTimeout(HOLD);
        },
        { isolationLevel: "ReadCommitted" },
      ),
    transaction: () =>
      limiter.transaction(async ({ limit }) => {
        await limit("posts");
        await setTimeout(HOLD);
      }),
    value: async () => (await limiter.getValue("posts")).value,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function throughPg(): Promise<Subject> {
  const database = await createPostgres();
  const pool = connectPool(database.url);
  const limiter = createRateLimiter({ store: pgStore(pool), limits, clock: createManualClock() });
  return {
    async using() {
      const client = await pool.connect();
      await client.query("BEGIN");
      await limiter.using(client).limit("posts");
      await setTimeout(HOLD);
      await client.query("COMMIT");
      client.release();
    },
    transaction: () =>
      limiter.transaction(async ({ limit }) => {
        await limit("posts");
        await setTimeout(HOLD);
      }),
    value: async () => (await limiter.getValue("posts")).value,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

const subjects: [name: string, open: () => Promise<Subject>][] = [
  ["PostgreSQL", () => throughPrisma(createPostgres)],
  ["PostgreSQL through pg", throughPg],
];
if (mysqlUrl !== undefined) {
  subjects.push(["MySQL or MariaDB", () => throughPrisma(createMysql)]);
}

describe.each(subjects)(
  "a row that callers of using(tx) hold all the time, on %s",
  (_name, open) => {
    it("is also granted to callers of `transaction`, within seconds", async () => {
      await using subject = await open();
      const before = await subject.value();
      await subject.using();
      let done = false;
      let used = 1;
      const users = Array.from({ length: 2 }, async () => {
        for (; !done; used++) await subject.using();
      });
      const startedAt = performance.now();
      const takers = Array.from({ length: 2 }, async () => {
        for (let i = 0; i < TIMES; i++) await subject.transaction();
      });
      const outcomes = await Promise.allSettled(takers);
      const took = performance.now() - startedAt;
      done = true;
      await Promise.all(users);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
      expect(took).toBeLessThan(5000);
      // The holders do not starve in their turn.
      expect(used).toBeGreaterThan(2 * TIMES);
      expect(before - (await subject.value())).toBe(used + 2 * TIMES);
    });
  },
);

describe.each(subjects)(
  "a row that callers of `transaction` hold all the time, on %s",
  (_, open) => {
    it("is granted to all of them alike, and to each without a failure", async () => {
      await using subject = await open();
      const before = await subject.value();
      const turns = Array.from({ length: 12 }, () => 0);
      let left = 240;
      const callers = turns.map(async (_none, caller) => {
        while (left > 0) {
          await subject.transaction();
          turns[caller]!++;
          left--;
        }
      });
      const outcomes = await Promise.allSettled(callers);
      expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
      expect(Math.min(...turns) / Math.max(...turns)).toBeGreaterThan(0.5);
      expect(before - (await subject.value())).toBe(turns.reduce((sum, each) => sum + each, 0));
      // 250 transactions, one after the other: many seconds on a busy machine.
    }, 60_000);
  },
);
