/**
 * The locks that the statements of MySQL and MariaDB take, at the isolation that both have by
 * default: transactions of the application and calls on other rows do not wait for each other.
 */
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  mysqlStore,
  prismaStore,
  type RateLimiter,
  type RateLimitStore,
} from "../../../../../server/index.js";
import { connectMysql } from "../../../../support/clients.js";
import { createMysql, mysqlUrl } from "../../../../support/database.js";
import { mysql8Store } from "../../../../support/mysql-8.js";
import { connectMysql2 } from "../../../../support/open-mysql.js";

const limits = {
  posts: { kind: "token bucket", rate: 20, period: HOUR },
  mails: { kind: "token bucket", rate: 20, period: HOUR },
} as const;

const posts = (key: string) => ({ name: "posts", key }) as const;
const mails = (key: string) => ({ name: "mails", key }) as const;

type Limiter = RateLimiter<typeof limits>;
type Level = "RepeatableRead" | "ReadCommitted" | "Serializable";

interface Opened {
  store: RateLimitStore;
  /** Runs `run` in a transaction of the application. */
  transact<TResult>(level: Level, run: (tx: unknown) => Promise<TResult>): Promise<TResult>;
  close(): Promise<void>;
}

const SQL: Record<Level, string> = {
  RepeatableRead: "REPEATABLE READ",
  ReadCommitted: "READ COMMITTED",
  Serializable: "SERIALIZABLE",
};

const openPool =
  (create: (pool: ReturnType<typeof connectMysql2>) => unknown) =>
  (url: string): Opened => {
    const pool = connectMysql2(url, { connectionLimit: 24 });
    return {
      store: create(pool) as RateLimitStore,
      async transact(level, run) {
        const connection = await pool.getConnection();
        try {
          await connection.query(`SET TRANSACTION ISOLATION LEVEL ${SQL[level]}`);
          await connection.query("START TRANSACTION");
          const result = await run(connection);
          await connection.query("COMMIT");
          return result;
        } finally {
          await connection.query("ROLLBACK");
          connection.release();
        }
      },
      close: () => pool.end(),
    };
  };

const clients: [name: string, open: (url: string) => Opened][] = [
  ["mysql2", openPool((pool) => mysqlStore(pool))],
  ["mysql2, as on MySQL 8,", openPool((pool) => mysql8Store(pool))],
  [
    "Prisma",
    (url) => {
      const prisma = connectMysql(url, 24);
      return {
        store: prismaStore(prisma) as RateLimitStore,
        transact: (isolationLevel, run) =>
          prisma.$transaction(run, { isolationLevel, maxWait: 10_000, timeout: 15_000 }),
        close: () => prisma.$disconnect(),
      };
    },
  ],
];

// Without a server, `test/server/store/sql/mysql/mysql.test.ts` reports a skipped test.
describe.skipIf(mysqlUrl === undefined).each(clients)("on %s, a transaction", (_name, open) => {
  async function setUp() {
    const database = await createMysql();
    const opened = open(database.url);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => opened.close());
    const { store, transact } = opened;
    const options = { store, limits, clock: createManualClock(), logger: false } as const;
    const limiter = createRateLimiter(options);
    /** Waits for longer than the other one. */
    const patient = createRateLimiter({ ...options, timeout: 8_000 });
    /** Runs `begin` in a transaction that stays open until the function it returns is called. */
    async function hold(level: Level, begin: (tx: unknown) => Promise<unknown>) {
      let commit = () => {};
      const wanted = new Promise<void>((resolve) => (commit = resolve));
      let closed: Promise<void> = Promise.resolve();
      await new Promise<void>((resolve, reject) => {
        closed = transact(level, async (tx) => {
          await begin(tx);
          resolve();
          await wanted;
        });
        closed.catch(reject);
      });
      return async () => {
        commit();
        await closed;
      };
    }
    return { limiter, patient, transact, hold };
  }

  /** The number of promises that were fulfilled. */
  const passed = async (calls: Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled").length;

  it.each(["RepeatableRead", "ReadCommitted"] as const)(
    "on a new key does not conflict with those on other new keys, at %s",
    async (level) => {
      const { limiter, transact } = await setUp();
      await limiter.limit("posts", { key: "m" });
      const keys = Array.from({ length: 40 }, (_, i) => `${"azby"[i % 4]} ${i}`);
      const calls = keys.map((key) =>
        transact(level, (tx) => limiter.using(tx).limit("posts", { key })),
      );
      expect(await passed(calls)).toBe(40);
    },
  );

  it("on a new key does not delay calls on other new keys while it is open", async () => {
    const { limiter, hold } = await setUp();
    const commit = await hold("RepeatableRead", async (tx) => {
      await limiter.using(tx).limit("posts", { key: "m" });
      await limiter.using(tx).limitAll([posts("n"), mails("n")]);
      await limiter.using(tx).check("posts", { key: "o" });
      await limiter.using(tx).refund("posts", { key: "p" });
      await limiter.using(tx).reset("posts", { key: "q" });
    });
    const others = ["a", "l", "mm", "nn", "oo", "pp", "z"];
    const calls = others.map((key) => limiter.limit("posts", { key }));
    expect(await passed(calls)).toBe(others.length);
    await commit();
  });

  it("of the limiter on a new key delays other new keys until it ends, and no key that has a row", async () => {
    const { limiter } = await setUp();
    await limiter.limit("posts", { key: "known" });
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    let transaction: Promise<unknown> = Promise.resolve();
    await new Promise<void>((begun, failed) => {
      transaction = limiter.transaction(async ({ limit }) => {
        await limit("posts", { key: "m" });
        begun();
        await ended;
      });
      transaction.catch(failed);
    });
    let isAnswered = false;
    const other = limiter.limit("posts", { key: "n" }).finally(() => (isAnswered = true));
    expect(await limiter.limit("posts", { key: "known" })).toMatchObject({ ok: true, value: 18 });
    expect(isAnswered).toBe(false);
    end();
    await transaction;
    expect(await other).toMatchObject({ ok: true });
  });

  it("on a key that was just reset does not delay calls on other new keys", async () => {
    const { limiter, transact, hold } = await setUp();
    await limiter.limit("posts", { key: "m" });
    await transact("RepeatableRead", (tx) => limiter.using(tx).limit("posts", { key: "m" }));
    await limiter.reset("posts", { key: "m" });
    // Until the purge, a moment later, the deleted row itself would be locked.
    await setTimeout(400);
    const commit = await hold("RepeatableRead", (tx) =>
      limiter.using(tx).limit("posts", { key: "m" }),
    );
    const calls = ["a", "l", "mm", "z"].map((key) => limiter.limit("posts", { key }));
    expect(await passed(calls)).toBe(calls.length);
    await commit();
  });

  it.each(["RepeatableRead", "ReadCommitted"] as const)(
    "on a new key queues with the others on that key, and all together get what there is, at %s",
    async (level) => {
      const { limiter, transact } = await setUp();
      for (const key of ["first", "second"]) {
        const results = await Promise.all(
          Array.from({ length: 24 }, () =>
            transact(level, (tx) => limiter.using(tx).limit("posts", { key })),
          ),
        );
        expect(results.filter(({ ok }) => ok)).toHaveLength(20);
        expect((await limiter.getValue("posts", { key })).value).toBe(0);
      }
    },
  );

  it("whose snapshot does not show a row yet decides on the row as it is", async () => {
    const { limiter, transact } = await setUp();
    const spend = async (key: string) => {
      for (let i = 0; i < 20; i++) await limiter.limit("posts", { key });
    };
    await limiter.limit("mails", { key: "any" });
    const results = await transact("RepeatableRead", async (tx) => {
      // Takes the snapshot.
      await limiter.using(tx).getValue("mails", { key: "new" });
      await limiter.using(tx).limit("mails", { key: "unused" });
      for (const key of ["a", "b"]) await spend(key);
      return [
        await limiter.using(tx).limit("posts", { key: "a" }),
        await limiter.using(tx).limitAll([posts("b"), mails("b")]),
      ];
    });
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
  });

  it("at Serializable queues for a row that others use in the same way", async () => {
    const { limiter, transact } = await setUp();
    const call = () =>
      transact("Serializable", (tx) => limiter.using(tx).limit("posts", { key: "a" }));
    await call();
    await call();
    expect(await passed(Array.from({ length: 20 }, call))).toBe(20);
  });

  it.each(["RepeatableRead", "ReadCommitted"] as const)(
    "locks only its own row of a table that has few, at %s",
    async (level) => {
      const { limiter, hold, transact } = await setUp();
      const keys = ["a", "b", "c", "d"];
      for (const key of keys) await limiter.limit("posts", { key });
      const commit = await hold(level, (tx) => limiter.using(tx).limit("posts", { key: "b" }));
      const others = keys.filter((key) => key !== "b");
      const calls = others.flatMap((key) => [
        transact(level, (tx) => limiter.using(tx).limit("posts", { key })),
        limiter.limit("posts", { key }),
        limiter.refund("posts", { key }),
        limiter.transaction(({ limit }) => limit("posts", { key })),
        limiter.limitAll([posts(key), mails(key)]),
      ]);
      expect(await passed(calls)).toBe(calls.length);
      expect(await passed(others.map((key) => limiter.reset("posts", { key })))).toBe(3);
      await commit();
    },
  );

  it.each<[string, (limiter: Limiter, key: string) => Promise<unknown>]>([
    ["limit", (limiter, key) => limiter.limit("posts", { key })],
    ["refund", (limiter, key) => limiter.refund("posts", { key })],
    ["reset", (limiter, key) => limiter.reset("posts", { key })],
    ["limitAll", (limiter, key) => limiter.limitAll([posts(key), mails(key)])],
  ])(
    "that holds rows does not delay calls on other rows while %s waits for its rows",
    async (_method, call) => {
      const { limiter, patient, hold } = await setUp();
      const held = ["a", "b", "c", "d"];
      for (const key of [...held, "free", "freer"]) await limiter.limit("posts", { key });
      const commit = await hold("RepeatableRead", async (tx) => {
        for (const key of held) await limiter.using(tx).limit("posts", { key });
        for (const key of ["new a", "new b"]) await limiter.using(tx).limit("posts", { key });
      });
      const waiting: Promise<unknown>[] = [];
      for (const key of [...held, "new a", "new b"]) {
        waiting.push(call(limiter, key).catch(() => {}));
        await limiter.check("posts", { key: "free" });
      }
      // A new row waits for callers of other new ones, until those give up. The transaction still goes on.
      const calls = [
        patient.limit("posts", { key: "free" }),
        patient.refund("posts", { key: "freer" }),
        patient.limit("posts", { key: "newer" }),
      ];
      expect(await passed(calls)).toBe(3);
      await commit();
      await Promise.all(waiting);
    },
  );
});
