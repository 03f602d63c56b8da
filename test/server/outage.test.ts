import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  prismaStore,
  type RateLimiter,
  RateLimitStoreError,
} from "../../server/index.js";
import { connectPostgres, type PostgresClient } from "../support/clients.js";
import { createPostgres, type TestDatabase } from "../support/database.js";
import { type PostgresServer, startPostgres } from "../support/postgres-server.js";

const TOKENS = 20;
const limits = { few: { kind: "token bucket", rate: TOKENS, period: 10_000 * DAY } } as const;
const TIMEOUT = 250;

interface Subject {
  prisma: PostgresClient;
  limiter: RateLimiter<typeof limits>;
  [Symbol.asyncDispose](): Promise<void>;
}

describe("a PostgreSQL that fails", { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  beforeAll(async () => {
    server = await startPostgres();
    database = await createPostgres(server.url);
  }, 60_000);
  afterAll(() => server.stop());

  function connect(connections?: number): Subject {
    const prisma = connectPostgres(database.url, connections);
    const store = prismaStore(prisma);
    return {
      prisma,
      limiter: createRateLimiter({ store, limits, timeout: TIMEOUT }) as never,
      [Symbol.asyncDispose]: () => prisma.$disconnect(),
    };
  }

  const call = (limiter: Subject["limiter"], key: string) =>
    limiter.limit("few", { key }).then(
      ({ ok }) => (ok ? "granted" : "denied"),
      (error: unknown) => error,
    );
  const calls = (limiter: Subject["limiter"], key: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => call(limiter, key)));

  /** Calls until one is answered, and returns all answers there were. */
  async function untilAnswered(limiter: Subject["limiter"], key: string): Promise<unknown[]> {
    const answers = [];
    for (;;) {
      const answer = await call(limiter, key);
      answers.push(answer);
      if (typeof answer === "string") return answers;
      await setTimeout(50);
    }
  }

  const granted = (answers: readonly unknown[]) =>
    answers.filter((answer) => answer === "granted").length;
  const failures = (answers: readonly unknown[]) =>
    answers.filter((answer) => answer instanceof RateLimitStoreError).length;

  it("fails every call while it is paused, and answers again by itself", async () => {
    await using subject = connect();
    const { limiter } = subject;
    const before = await calls(limiter, "paused", 3);
    await server.pause();
    const during = await calls(limiter, "paused", 50);
    expect(failures(during)).toBe(50);
    server.resume();
    const after = await untilAnswered(limiter, "paused");
    after.push(...(await calls(limiter, "paused", 2 * TOKENS)));
    // Those that had been sent may have consumed, though their callers were told of a failure.
    expect(granted(before)).toBe(3);
    expect(granted(after)).toBeLessThanOrEqual(TOKENS - 3);
    expect(after.at(-1)).toBe("denied");
  });

  it("admits no more than there is when it dies in the middle of batches, and restarts", async () => {
    await using subject = connect();
    const { limiter } = subject;
    const answers: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      // Half of the load takes from rows of its own, so that batches are under way all the time.
      const load = Array.from({ length: 40 }, async (_, i) => {
        for (let n = 0; n < 5; n++) {
          if (i % 2 === 0) answers.push(await call(limiter, "killed"));
          else await call(limiter, `${round} ${i} ${n}`);
        }
      });
      const killed = setTimeout(5 * round).then(() => server.kill());
      await Promise.all([...load, killed]);
      await server.start();
      answers.push(...(await untilAnswered(limiter, "killed")));
    }
    answers.push(...(await calls(limiter, "killed", 2 * TOKENS)));
    expect(failures(answers)).toBeGreaterThan(0);
    expect(granted(answers)).toBeLessThanOrEqual(TOKENS);
    expect(answers.at(-1)).toBe("denied");
  });

  it("fails while others hold all connections, and consumes nothing for those calls", async () => {
    await using subject = connect(2);
    const { prisma, limiter } = subject;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const hogs = [1, 2].map(() =>
      prisma.$transaction(
        async (tx) => {
          await tx.$queryRaw`SELECT 1`;
          await released;
        },
        { timeout: 30_000 },
      ),
    );
    await setTimeout(100);
    expect(failures(await calls(limiter, "exhausted", 30))).toBe(30);
    release();
    await Promise.all(hogs);
    const after = await untilAnswered(limiter, "exhausted");
    after.push(...(await calls(limiter, "exhausted", 2 * TOKENS)));
    expect(granted(after)).toBe(TOKENS);
  });

  it("leaves connections to the application while its table is locked", async () => {
    await using other = connect();
    await using subject = connect(5);
    const { prisma, limiter } = subject;
    await call(limiter, "locked");
    await other.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE "RateLimit" IN ACCESS EXCLUSIVE MODE`;
      const keys = Array.from({ length: 300 }, (_, i) => `locked ${i}`);
      const answers = await Promise.all(keys.map((key) => call(limiter, key)));
      expect(failures(answers)).toBe(300);
      await expect(prisma.$queryRaw`SELECT 1 AS "one"`).resolves.toEqual([{ one: 1 }]);
    });
    expect((await untilAnswered(limiter, "locked")).at(-1)).toBe("granted");
  });
});
