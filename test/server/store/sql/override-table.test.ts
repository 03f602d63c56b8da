/**
 * Conflicts over the table of overrides, and over statements that read the tables: callers see no
 * conflict.
 */
import { createClient } from "@libsql/client";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { describe, expect, it, onTestFinished } from "vitest";
import { PrismaClient } from "../../../../prisma/generated/client/client.js";
import {
  createRateLimiter,
  DAY,
  pgStore,
  prismaStore,
  type RateLimitStore,
  sqliteStore,
} from "../../../../server/index.js";
import { connectPool } from "../../../support/connect-pool.js";
import { createPostgres, createSqlite } from "../../../support/database.js";

const limits = { few: { kind: "fixed window", rate: 10, period: DAY } } as const;
const user = { key: "user" };

const limiterOn = (store: RateLimitStore, timeout?: number) =>
  createRateLimiter({
    store,
    limits,
    overrides: true,
    overridesFor: 0,
    ...(timeout !== undefined && { timeout }),
  });

/** Both without a time-out, which is their default: a locked file is an error at once. */
const onSqlite: [name: string, open: (url: string) => [RateLimitStore, () => unknown]][] = [
  [
    "@libsql/client",
    (url) => {
      const client = createClient({ url });
      return [sqliteStore(client) as RateLimitStore, () => client.close()];
    },
  ],
  [
    "Prisma",
    (url) => {
      const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url }) });
      return [prismaStore(prisma) as RateLimitStore, () => prisma.$disconnect()];
    },
  ],
];

describe.each(onSqlite)("on a SQLite file that another process locks, through %s,", (_, open) => {
  async function setUp() {
    const database = await createSqlite();
    const [store, close] = open(database.url);
    const other = createClient({ url: database.url });
    onTestFinished(async () => {
      await close();
      other.close();
      await database[Symbol.asyncDispose]();
    });
    /** Begins the call while nobody else can read or write. */
    async function whileLocked<TResult>(call: () => Promise<TResult>): Promise<TResult> {
      await other.execute("BEGIN EXCLUSIVE");
      const waiting = call();
      waiting.catch(() => {});
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      await other.execute("ROLLBACK");
      return waiting;
    }
    return { limiter: limiterOn(store), store, whileLocked };
  }

  it("each call waits for its turn, also the first one", async () => {
    const { limiter, whileLocked } = await setUp();
    await whileLocked(() => limiter.overrides.set("few", { ...user, blocked: true }));
    expect(await whileLocked(() => limiter.limit("few", user))).toMatchObject({ ok: false });
    expect(await whileLocked(() => limiter.overrides.list())).toHaveLength(1);
    expect(await whileLocked(() => limiter.overrides.clear("few", user))).toBe(true);
    expect(await whileLocked(() => limiter.limit("few", user))).toMatchObject({ ok: true });
    expect((await whileLocked(() => limiter.list("few"))).items).toHaveLength(1);
    expect(await whileLocked(() => limiter.forget("user"))).toBe(1);
    expect(await whileLocked(() => limiter.prune())).toBe(0);
  });

  it("so does a first call that only reads", async () => {
    const { limiter, store, whileLocked } = await setUp();
    expect(await whileLocked(() => store.list!("few", undefined, 10))).toEqual([]);
    expect(await whileLocked(() => firstOf(store.names!()))).toBeUndefined();
    expect(await whileLocked(() => limiter.prune())).toBe(0);
  });
});

async function firstOf(names: AsyncIterable<string>): Promise<string | undefined> {
  for await (const name of names) return name;
  return undefined;
}

describe("on PostgreSQL with Serializable as its default", () => {
  it("overrides are set by several processes at once", async () => {
    await using database = await createPostgres();
    const name = new URL(database.url).pathname.slice(1);
    await database.prisma.$executeRawUnsafe(
      `ALTER DATABASE "${name}" SET default_transaction_isolation = 'serializable'`,
    );
    const pools = [1, 2, 3].map(() => connectPool(database.url));
    onTestFinished(async () => void (await Promise.all(pools.map((pool) => pool.end()))));
    const calls = pools.flatMap((pool) => {
      const limiter = limiterOn(pgStore(pool) as RateLimitStore, 15_000);
      return Array.from({ length: 20 }, (_, times) => () => [
        limiter.overrides.set("few", { ...user, times: 1 + times }),
        limiter.limit("few", { key: `user ${times}` }),
        ...(times % 10 === 0 ? [limiter.prune()] : []),
      ]);
    });
    const results = await Promise.allSettled(calls.flatMap((call) => call()));
    const failed = results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(failed.map(String)).toEqual([]);
  });
});

describe("a write that has timed out", () => {
  it("is not tried again, so it does not replace what was set after it", async () => {
    await using database = await createSqlite();
    const client = createClient({ url: database.url });
    const other = createClient({ url: database.url });
    onTestFinished(() => [client, other].forEach((each) => each.close()));
    const { overrides } = sqliteStore(client);
    const row = (rule: string) => ({ name: "few", key: "", rule, until: 1, setAt: 1 });
    await overrides!.write(row("{}"));
    const call = { expired: false };
    await other.execute("BEGIN EXCLUSIVE");
    const late = overrides!.write(row("late"), call);
    await new Promise(setImmediate);
    call.expired = true;
    await other.execute("ROLLBACK");
    await expect(late).rejects.toThrow(/locked|timed out/);
    expect(await overrides!.read()).toEqual([row("{}")]);
  });
});
