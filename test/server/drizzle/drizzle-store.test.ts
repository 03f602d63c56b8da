import { sql, type SQL } from "drizzle-orm";
import { drizzle as drizzleLibsql } from "drizzle-orm/libsql";
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type DrizzleLike,
  drizzleStore,
  type DrizzleStoreOptions,
} from "../../../server/drizzle/index.js";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../../server/index.js";
import { connectPool } from "../../support/connect-pool.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import { connectLibsql, connectMysql2, connectPostgresJs } from "../../support/open-orm.js";

const limits = { few: { kind: "token bucket", rate: 10, period: HOUR } } as const;

/** The methods that the databases and transactions of all drivers have, as far as these tests need them. */
interface Tx {
  execute?(query: SQL): PromiseLike<unknown>;
  run?(query: SQL): PromiseLike<unknown>;
  transaction<TResult>(run: (tx: Tx) => Promise<TResult>): Promise<TResult>;
}

const run = (tx: Tx, query: SQL) => (tx.execute === undefined ? tx.run!(query) : tx.execute(query));

interface Opened {
  db: Tx & DrizzleLike;
  close(): Promise<unknown>;
}

type Driver = [name: string, create: () => Promise<TestDatabase>, open: (url: string) => Opened];

const onPostgres: Driver[] = [
  [
    "node-postgres",
    () => createPostgres(),
    (url) => {
      const pool = connectPool(url, 4);
      return { db: drizzlePg({ client: pool }), close: () => pool.end() };
    },
  ],
  [
    "postgres-js",
    () => createPostgres(),
    (url) => {
      const client = connectPostgresJs(url, 4);
      return { db: drizzlePostgresJs({ client }), close: () => client.end() };
    },
  ],
];

const drivers: Driver[] = [
  ...onPostgres,
  [
    "libsql",
    createSqlite,
    (url) => {
      const client = connectLibsql(url);
      return { db: drizzleLibsql({ client }), close: async () => client.close() };
    },
  ],
];
if (mysqlUrl !== undefined) {
  drivers.push([
    "mysql2",
    () => createMysql(),
    (url) => {
      const pool = connectMysql2(url, 4);
      return { db: drizzleMysql({ client: pool }) as never, close: () => pool.promise().end() };
    },
  ]);
}

async function setUp([, create, open]: Driver, options?: DrizzleStoreOptions) {
  const database = await create();
  const { db, close } = open(database.url);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(async () => void (await close()));
  await run(db, sql.raw("CREATE TABLE posts (id int)"));
  const store = drizzleStore(db, options) as RateLimitStore<Tx>;
  const limiter = createRateLimiter({ store, limits });
  const posts = async () =>
    (await database.prisma.$queryRawUnsafe<object[]>("SELECT id FROM posts")).length;
  const left = async (key = "ann") => Math.floor((await limiter.getValue("few", { key })).value);
  return { database, db, limiter, posts, left };
}

const post = sql.raw("INSERT INTO posts VALUES (1)");
const failed = new Error("post failed");

describe.each(drivers)("drizzleStore on %s", (...driver) => {
  it("commits the tokens and the data of `transaction` together, or neither", async () => {
    const { limiter, posts, left } = await setUp(driver);
    const publish = (fails: boolean) =>
      limiter.transaction(async ({ tx, limit }) => {
        await limit("few", { key: "ann", count: 2, throws: true });
        await run(tx, post);
        if (fails) throw failed;
        return "published";
      });
    expect(await publish(false)).toBe("published");
    await expect(publish(true)).rejects.toBe(failed);
    expect(await posts()).toBe(1);
    expect(await left()).toBe(8);
  });

  it("says how a column gets its name back that `casing` has renamed", async () => {
    const { database, db } = await setUp(driver);
    const table = driver[0] === "mysql2" ? "`RateLimitOverride`" : '"RateLimitOverride"';
    const setAt = driver[0] === "mysql2" ? "`setAt`" : '"setAt"';
    await database.prisma.$executeRawUnsafe(
      `ALTER TABLE ${table} RENAME COLUMN ${setAt} TO set_at`,
    );
    const store = drizzleStore(db) as RateLimitStore<Tx>;
    const limiter = createRateLimiter({ store, limits, overrides: true, logger: false });
    await expect(limiter.limit("few", { key: "ann" })).rejects.toThrow(
      /has no column setAt; it has set_at \(name its columns in the Drizzle schema.*"setAt"/,
    );
  });

  it("joins a transaction of the application, and its nested transactions", async () => {
    const { db, limiter, posts, left } = await setUp(driver);
    await db.transaction(async (tx) => {
      await limiter.using(tx).limit("few", { key: "ann", throws: true });
      const nested = (fails: boolean) =>
        tx.transaction(async (inner) => {
          await limiter.using(inner).limit("few", { key: "ann", count: 3, throws: true });
          await run(inner, post);
          if (fails) throw failed;
        });
      await expect(nested(true)).rejects.toBe(failed);
      await nested(false);
    });
    expect(await left()).toBe(6);
    expect(await posts()).toBe(1);
    const aborted = db.transaction(async (tx) => {
      await limiter.using(tx).limit("few", { key: "ann", throws: true });
      throw failed;
    });
    await expect(aborted).rejects.toBe(failed);
    expect(await left()).toBe(6);
  });

  it("retries transactions that conflict, until each of them has taken its token", async () => {
    const { limiter, posts, left } = await setUp(driver);
    await Promise.all(
      Array.from({ length: 6 }, () =>
        limiter.transaction(async ({ tx, limit }) => {
          await limit("few", { key: "ann", throws: true });
          await run(tx, post);
        }),
      ),
    );
    expect(await posts()).toBe(6);
    expect(await left()).toBe(4);
  });

  it("rolls back a transaction that takes longer than its timeout", async () => {
    const { limiter, posts, left } = await setUp(driver);
    const slow = limiter.transaction(
      async ({ tx, limit }) => {
        await limit("few", { key: "ann", throws: true });
        await run(tx, post);
      },
      { timeout: 0 },
    );
    await expect(slow).rejects.toMatchObject({
      kind: "StoreFailure",
      message: expect.stringContaining("the transaction took longer than 0 ms"),
    });
    expect(await posts()).toBe(0);
    expect(await left()).toBe(10);
  });

  it("keeps keys and other parameters out of the messages of errors", async () => {
    const { db, database, limiter } = await setUp(driver);
    await limiter.limit("few", { key: "first" });
    await database.prisma.$executeRawUnsafe(
      driver[0] === "mysql2"
        ? "ALTER TABLE RateLimit RENAME TO Away"
        : 'ALTER TABLE "RateLimit" RENAME TO "Away"',
    );
    const key = "ann@example.com";
    const errors = [
      await db
        .transaction((tx) => limiter.using(tx).limit("few", { key }))
        .catch((error: unknown) => error),
      await limiter.limit("few", { key }).catch((error: unknown) => error),
    ];
    for (const error of errors) {
      const { message } = error as Error;
      expect(message).toMatch(/no such table|does(n't| not) exist|missing/);
      expect(message).not.toContain("ann@");
      expect(message).not.toContain("params");
    }
  });
});

describe.each(onPostgres)("drizzleStore on %s", (...driver) => {
  it("fails a transaction that hides the error of one of its statements: nothing was committed", async () => {
    const { limiter, left } = await setUp(driver);
    const hides = limiter.transaction(async ({ tx, limit }) => {
      await limit("few", { key: "ann", throws: true });
      await Promise.resolve(run(tx, sql.raw("SELECT 1 FROM missing"))).catch(() => {});
    });
    await expect(hides).rejects.toThrow("one of its statements had failed");
    expect(await left()).toBe(10);
  });

  it("prepares its statements once per connection, and not at all with `prepare: false`", async () => {
    const prepared = async (options: DrizzleStoreOptions) => {
      const database = await createPostgres();
      const { db, close } =
        driver[0] === "node-postgres" ? onePg(database.url) : onePostgresJs(database.url);
      const store = drizzleStore(db, options);
      const limiter = createRateLimiter({ store, limits });
      for (let i = 0; i < 4; i++) await limiter.limit("few");
      const result = await db.execute!(
        sql.raw("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%RateLimit%'"),
      );
      await close();
      await database[Symbol.asyncDispose]();
      const rows = Array.isArray(result) ? result : (result as { rows: unknown[] }).rows;
      return rows.length;
    };
    expect(await prepared({ prepare: false })).toBe(0);
    expect(await prepared({})).toBeGreaterThan(0);
  });
});

function onePg(url: string): Opened {
  const pool = connectPool(url, 1);
  return { db: drizzlePg({ client: pool }), close: () => pool.end() };
}

function onePostgresJs(url: string): Opened {
  const client = connectPostgresJs(url, 1);
  return { db: drizzlePostgresJs({ client }), close: () => client.end() };
}
