import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  type RateLimiter,
  RateLimitStoreError,
} from "../../server/index.js";
import { createPostgres, type TestDatabase } from "../support/database.js";
import { openStore } from "../support/open-store.js";
import { type PostgresServer, startPostgres } from "../support/postgres-server.js";

const TOKENS = 20;
const limits = { few: { kind: "token bucket", rate: TOKENS, period: 10_000 * DAY } } as const;
const TIMEOUT = 250;

interface Subject {
  limiter: RateLimiter<typeof limits>;
  /** Runs a statement through the application's own client. */
  run(sql: string): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
}

describe.each(["postgresql", "pg"] as const)(
  "a PostgreSQL that fails (%s)",
  (kind) => {
    let server: PostgresServer;
    let database: TestDatabase;
    beforeAll(async () => {
      server = await startPostgres();
      database = await createPostgres(server.url);
    }, 60_000);
    afterAll(() => server.stop());

    function connect(connections?: number): Subject {
      const options = connections === undefined ? {} : { connections };
      const { store, run, close } = openStore(kind, database.url, options);
      return {
        limiter: createRateLimiter({ store, limits, timeout: TIMEOUT }),
        run,
        [Symbol.asyncDispose]: close,
      };
    }

    const call = (limiter: Subject["limiter"], key: string) =>
      limiter.limit("few", { key }).then(
        ({ ok }) => (ok ? "granted" : "denied"),
        (error: unknown) => error,
      );
    const calls = (limiter: Subject["limiter"], key: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => call(limiter, key)));

    /** Calls until one call is answered, and returns all answers. */
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
      await untilAnswered(limiter, "warm");
      const before = await calls(limiter, "paused", 3);
      await server.pause();
      const during = await calls(limiter, "paused", 50);
      expect(failures(during)).toBe(50);
      server.resume();
      const after = await untilAnswered(limiter, "paused");
      after.push(...(await calls(limiter, "paused", 2 * TOKENS)));
      // Calls that had been sent may have consumed tokens, although their callers got an error.
      expect(granted(before)).toBe(3);
      expect(granted(after)).toBeLessThanOrEqual(TOKENS - 3);
      expect(after.at(-1)).toBe("denied");
    });

    it("admits no more than there is when it dies in the middle of batches, and restarts", async () => {
      await using subject = connect();
      const { limiter } = subject;
      const answers: unknown[] = [];
      for (let round = 0; round < 3; round++) {
        // Half of the load takes from rows of its own, so that batches are in flight all the time.
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

    it("fails while the application holds all connections, and answers once they are free", async () => {
      await using subject = connect(2);
      const { limiter, run } = subject;
      await run("SELECT 1");
      const hogs = [1, 2].map(() => run("SELECT pg_sleep(1)::text"));
      await setTimeout(100);
      expect(failures(await calls(limiter, "exhausted", 30))).toBe(30);
      await Promise.all(hogs);
      const after = await untilAnswered(limiter, "exhausted");
      after.push(...(await calls(limiter, "exhausted", 2 * TOKENS)));
      // Prisma accepts a statement and waits for a connection by itself, so the store cannot cancel
      // it. With a pool of its own, the store checks the calls again when it has a connection.
      if (kind === "pg") expect(granted(after)).toBe(TOKENS);
      else expect(granted(after)).toBeLessThanOrEqual(TOKENS);
      expect(after.at(-1)).toBe("denied");
    });

    it("leaves connections to the application while its table is locked", async () => {
      await using subject = connect(5);
      const { limiter, run } = subject;
      await call(limiter, "locked");
      const unlock = await hold(`LOCK TABLE "RateLimit" IN ACCESS EXCLUSIVE MODE`);
      const keys = Array.from({ length: 300 }, (_, i) => `locked ${i}`);
      const answers = await Promise.all(keys.map((key) => call(limiter, key)));
      expect(failures(answers)).toBe(300);
      await run("SELECT 1");
      await unlock();
      expect((await untilAnswered(limiter, "locked")).at(-1)).toBe("granted");
    });

    it("answers for other rows while some are held for long, one by one and in a batch", async () => {
      await using subject = connect(5);
      const { limiter } = subject;
      const held = Array.from({ length: 6 }, (_, i) => `held ${i}`);
      for (const key of held) await call(limiter, key);
      const list = held.map((key) => `'${key}'`).join(", ");
      const release = await hold(`SELECT 1 FROM "RateLimit" WHERE key IN (${list}) FOR UPDATE`);
      const blocked = held.map((key) => call(limiter, key));
      await setTimeout(20);
      // The free rows are in one batch with held ones, and then in batches of their own.
      const mixed = Promise.all([...held, "free 1", "free 2"].map((key) => call(limiter, key)));
      expect((await untilAnswered(limiter, "free 3")).at(-1)).toBe("granted");
      expect((await untilAnswered(limiter, "free 4")).at(-1)).toBe("granted");
      expect(failures(await Promise.all(blocked))).toBe(6);
      expect(failures(await mixed)).toBeLessThanOrEqual(8);
      await release();
      for (const key of held) {
        expect((await untilAnswered(limiter, key)).at(-1)).toBe("granted");
      }
    });

    /** Runs a statement in a transaction that stays open. Returns a function that commits it. */
    async function hold(sql: string): Promise<() => Promise<void>> {
      const client = new pg.Client(database.url);
      await client.connect();
      await client.query("BEGIN");
      await client.query(sql);
      return async () => {
        await client.query("COMMIT");
        await client.end();
      };
    }
  },
  60_000,
);
