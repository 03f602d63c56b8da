/** The tests of Prisma 8. `test/drivers/prisma-8.test.ts` runs them, with Node.js 24. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, DAY, prismaStore, type Prisma8Queryable } from "../../server/index.js";
import { prisma8Driver } from "../../server/store/drivers/prisma/prisma-8.js";
import { isConflict } from "../../server/store/sql/postgresql/errors.js";
import { createPostgres } from "../support/database.js";
import { connectPool } from "../support/open-store.js";
import { connectPrisma8 } from "../support/prisma-8.js";
import { describeSqlStore } from "../server/store/sql-contract.js";

const limits = {
  posts: { kind: "fixed window", rate: 20, period: DAY, start: 0 },
  comments: { kind: "token bucket", rate: 1 / 3, period: 7000, capacity: 40 },
} as const;

async function setUp(options: Parameters<typeof connectPrisma8>[1] = {}) {
  const database = await createPostgres();
  const opened = connectPrisma8(database.url, options);
  onTestFinished(async () => {
    await opened.close();
    await database[Symbol.asyncDispose]();
  });
  return { ...opened, url: database.url, clock: createManualClock() };
}

describeSqlStore("prisma 8", "prismaStore with Prisma 8", () => createPostgres());

describe("prismaStore with Prisma 8", () => {
  it("commits tokens with the application's data, or rolls both back", async () => {
    const { prisma, clock, run } = await setUp();
    await run("CREATE TABLE posts (id int)");
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, clock });
    const post = (id: number) =>
      limiter.transaction(async ({ tx, limit }) => {
        await limit("posts", { count: 5, throws: true });
        const { execute } = prisma8Driver(prisma).within(tx);
        await execute("INSERT INTO posts VALUES ($1)", [id]);
        if (id < 0) throw new Error("undo");
      });
    await post(1);
    await expect(post(-1)).rejects.toThrow("undo");
    expect(await limiter.getValue("posts")).toMatchObject({ value: 15 });
    expect(await run("SELECT id FROM posts")).toMatchObject({ rows: [{ id: 1 }] });
  });

  it("loses no take of transactions that conflict", async () => {
    const { prisma, clock } = await setUp();
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, clock });
    const names = ["posts", "comments"] as const;
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        limiter.transaction(
          async ({ limit }) => {
            for (const name of i % 2 ? names : names.toReversed()) await limit(name);
          },
          { retryFor: 20_000, timeout: 20_000, maxWait: 20_000 },
        ),
      ),
    );
    expect(await limiter.getValue("posts")).toMatchObject({ value: 8 });
    expect(await limiter.getValue("comments")).toMatchObject({ value: 28 });
  });

  it("joins a transaction of the application", async () => {
    const { prisma, clock } = await setUp();
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, clock });
    const transact = prisma.transaction as (
      run: (tx: Prisma8Queryable) => Promise<unknown>,
    ) => Promise<unknown>;
    await transact((tx) => limiter.using(tx).limit("posts", { count: 3 }));
    const failed = transact(async (tx) => {
      await limiter.using(tx).limit("posts", { count: 3 });
      throw new Error("undo");
    });
    await expect(failed).rejects.toThrow("undo");
    expect(await limiter.getValue("posts")).toMatchObject({ value: 17 });
  });

  it("sends its own statements through a pool, if it is given one", async () => {
    const { prisma, url, clock } = await setUp();
    const pool = connectPool(url);
    onTestFinished(() => pool.end());
    let statements = 0;
    pool.on("acquire", () => statements++);
    const limiter = createRateLimiter({ store: prismaStore(prisma, { pool }), limits, clock });
    await limiter.limit("posts");
    expect(statements).toBeGreaterThan(0);
    const sent = statements;
    await limiter.transaction(({ limit }) => limit("posts"));
    expect(statements).toBe(sent);
    expect(await limiter.getValue("posts")).toMatchObject({ value: 18 });
  });

  it("deletes full rows", async () => {
    const { prisma, clock } = await setUp();
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits, clock });
    for (const key of ["a", "b"]) await limiter.limit("comments", { key });
    clock.advance(DAY);
    await limiter.limit("comments", { key: "c", count: 0.1 });
    expect(await limiter.prune()).toBe(2);
    expect(await limiter.getValue("comments", { key: "c" })).toMatchObject({ value: 40 - 0.1 });
  });

  it("finds the table of the model in the contract, and names a missing one", async () => {
    const { prisma, run, clock } = await setUp({ table: "limits" });
    const store = prismaStore(prisma);
    const limiter = createRateLimiter({ store, limits, clock });
    await expect(limiter.limit("posts")).rejects.toThrow('"limits" does not exist');
    await run(`ALTER TABLE "RateLimit" RENAME TO limits`);
    expect(await limiter.limit("posts")).toMatchObject({ ok: true });
    expect(() => prismaStore(prisma, { model: "Post" })).toThrow(
      /no model "Post": emit it again .* the contract's models \(RateLimit\)/,
    );
  });

  it("throws for another kind of database", async () => {
    const { prisma } = await setUp();
    const other = Object.create(prisma, {
      contract: { value: { ...prisma.contract, target: "mongo" } },
    }) as typeof prisma;
    expect(() => prismaStore(other)).toThrow(
      'the Prisma client\'s target must be one of postgres, got "mongo"',
    );
  });
});

describe("the driver for Prisma 8", () => {
  const serializable = { isolationLevel: "Serializable" } as const;

  it("runs transactions at the level that is asked for", async () => {
    const driver = prisma8Driver((await setUp()).prisma);
    const levelAt = (isolationLevel: "ReadCommitted" | "Serializable") =>
      driver.transaction((tx) => driver.within(tx).query("SHOW transaction_isolation", []), {
        isolationLevel,
      });
    expect(await levelAt("Serializable")).toEqual([{ transaction_isolation: "serializable" }]);
    expect(await levelAt("ReadCommitted")).toEqual([{ transaction_isolation: "read committed" }]);
  });

  it("recognises a conflict, in a statement and at COMMIT", async () => {
    const { prisma, run } = await setUp();
    const driver = prisma8Driver(prisma);
    await run("CREATE TABLE pairs (id int PRIMARY KEY, n int)");
    await run("INSERT INTO pairs VALUES (1, 0), (2, 0)");
    /** Reads one row and writes the other, while another transaction does the opposite. */
    const crossed = (isAtCommit: boolean) =>
      driver.transaction(async (tx) => {
        const mine = driver.within(tx);
        await mine.query("SELECT n FROM pairs WHERE id = 1", []);
        await driver.transaction(async (otherTx) => {
          const connection = driver.within(otherTx);
          await connection.query("SELECT n FROM pairs WHERE id = 2", []);
          // After the other one's COMMIT, this statement would fail.
          if (isAtCommit) await mine.execute("UPDATE pairs SET n = n + 1 WHERE id = 2", []);
          await connection.execute("UPDATE pairs SET n = n + 1 WHERE id = 1", []);
        }, serializable);
        if (!isAtCommit) await mine.execute("UPDATE pairs SET n = n + 1 WHERE id = 1", []);
      }, serializable);
    for (const isAtCommit of [false, true]) {
      const error: unknown = await crossed(isAtCommit).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message.includes("commit failed")).toBe(isAtCommit);
      expect(isConflict(error)).toBe(true);
    }
  });

  it("rolls a transaction back that takes too long", async () => {
    const { prisma, run } = await setUp({ connections: 1 });
    const driver = prisma8Driver(prisma);
    // Before its first statement, Prisma runs another one on a second connection.
    await driver.query("SELECT 1 AS one", []);
    await run("CREATE TABLE posts (id int)");
    const slow = driver.transaction(
      async (tx) => {
        await driver.within(tx).execute("INSERT INTO posts VALUES (1)", []);
        await new Promise(() => {});
      },
      { ...serializable, timeout: 500 },
    );
    await expect(slow).rejects.toThrow("the transaction took longer than 500 ms");
    expect(await run("SELECT id FROM posts")).toMatchObject({ rows: [] });
  });

  it("rejects when no connection is free within maxWait, and does not begin later", async () => {
    const { prisma } = await setUp({ connections: 1 });
    const driver = prisma8Driver(prisma);
    // Before its first statement, Prisma runs another one on a second connection.
    await driver.query("SELECT 1 AS one", []);
    let begun = 0;
    let finish = () => {};
    const first = driver.transaction(
      () => new Promise<void>((resolve) => (finish = resolve)),
      serializable,
    );
    const late = driver.transaction(async () => void begun++, { ...serializable, maxWait: 30 });
    await expect(late).rejects.toThrow("no connection was free within 30 ms");
    finish();
    await first;
    expect(await driver.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
    expect(begun).toBe(0);
  });
});
