import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  DAY,
  prismaStore,
  RateLimitStoreError,
} from "../../../../server/index.js";
import {
  createMysql,
  createPostgres,
  mysqlUrl,
  type TestDatabase,
} from "../../../support/database.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";

const limits = { posts: { kind: "fixed window", rate: 20, period: DAY, start: 0 } } as const;

type Kind = StoreKind & ("postgresql" | "pg" | "mysql");

const databases: [kind: Kind, create: () => Promise<TestDatabase>][] = [
  ["postgresql", () => createPostgres()],
  ["pg", () => createPostgres()],
];
if (mysqlUrl !== undefined) databases.push(["mysql", () => createMysql()]);

/** A store on a database, with this many connections. */
async function setUp(kind: Kind, create: () => Promise<TestDatabase>, connections?: number) {
  const database = await create();
  const options = connections === undefined ? {} : { connections };
  const { store, run, close } = openStore(kind, database.url, options);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => close());
  return { database, store, run, limiter: createRateLimiter({ store, limits }) };
}

/** Runs a statement in a transaction that stays open. Returns a function that commits it. */
async function hold(url: string, sql: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("BEGIN");
  await client.query(sql);
  return async () => {
    await client.query("COMMIT");
    await client.end();
  };
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no failure",
    (error: unknown) => error,
  );

async function timed<TResult>(work: PromiseLike<TResult>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

describe.each(databases.filter(([kind]) => kind !== "mysql"))(
  "transaction on PostgreSQL (%s)",
  (kind, create) => {
    it("fails in time while its table is locked, and leaves connections to the application", async () => {
      const { database, limiter, run } = await setUp(kind, create, 3);
      await limiter.limit("posts");
      const unlock = await hold(database.url, `LOCK TABLE "RateLimit" IN ACCESS EXCLUSIVE MODE`);
      const all = Promise.all(
        Array.from({ length: 3 }, () =>
          failure(limiter.transaction(({ limit }) => limit("posts"), { retryFor: 500 })),
        ),
      );
      await setTimeout(100);
      expect(await timed(run("SELECT 1"))).toBeLessThan(2500);
      const errors = await all;
      for (const error of errors) {
        expect(error).toBeInstanceOf(RateLimitStoreError);
        expect((error as Error).message).toMatch(/lock timeout/);
      }
      await unlock();
      const { ok } = await limiter.transaction(({ limit }) => limit("posts"));
      expect(ok).toBe(true);
    });

    it("rejects with a store error and its cause if the database cannot be reached", async () => {
      const { store, close } = openStore(kind, "postgresql://root@127.0.0.1:1/none");
      onTestFinished(close);
      const limiter = createRateLimiter({ store, limits });
      const error = await failure(limiter.transaction(async () => {}));
      expect(error).toBeInstanceOf(RateLimitStoreError);
      expect((error as Error).cause).toBeInstanceOf(Error);
    });

    it("opens at most eight transactions at a time, and serves the others in turn", async () => {
      const { limiter, run } = await setUp(kind, create, 10);
      let open = 0;
      let most = 0;
      const finish = new AbortController();
      const held = Array.from({ length: 12 }, () =>
        limiter.transaction(async () => {
          most = Math.max(most, ++open);
          if (!finish.signal.aborted) {
            await new Promise((resolve) => finish.signal.addEventListener("abort", resolve));
          }
          open--;
        }),
      );
      await expect(limiter.transaction(async () => {}, { retryFor: 300 })).rejects.toThrow(
        /8 transactions were open for 300 ms/,
      );
      await run("SELECT 1");
      expect(open).toBe(8);
      finish.abort();
      await Promise.all(held);
      expect(most).toBe(8);
    });
  },
);

describe.each(databases)("transaction when the database fails (%s)", (kind, create) => {
  it("rejects with a store error if the connection is lost before the commit", async () => {
    const { database, limiter } = await setUp(kind, create);
    const [own, terminate] =
      kind === "mysql"
        ? ["SELECT CONNECTION_ID() AS id", "KILL "]
        : ["SELECT pg_backend_pid() AS id", "SELECT pg_terminate_backend($)::text"];
    const error = await failure(
      limiter.transaction(async ({ tx, limit }) => {
        await limit("posts");
        const id = await idOf(tx, own);
        const text = terminate.includes("$") ? terminate.replace("$", id) : terminate + id;
        await database.prisma.$queryRawUnsafe(text);
      }),
    );
    expect(error).toBeInstanceOf(RateLimitStoreError);
    expect((error as Error).cause).toBeInstanceOf(Error);
    const other = createRateLimiter({ store: prismaStore(database.prisma as never), limits });
    expect((await other.getValue("posts")).value).toBe(20);
  });

  it("rejects with a store error, which names no key, after conflicts without end", async () => {
    const { database, limiter } = await setUp(kind, create);
    const key = "a secret key";
    await limiter.limit("posts", { key });
    const holder = createRateLimiter({ store: prismaStore(database.prisma as never), limits });
    const finish = new AbortController();
    let holds = () => {};
    const held = new Promise<void>((resolve) => (holds = resolve));
    const holding = holder.transaction(
      async ({ limit }) => {
        await limit("posts", { key });
        holds();
        await new Promise((resolve) => finish.signal.addEventListener("abort", resolve));
      },
      { timeout: 20_000 },
    );
    await held;
    const error = await failure(
      limiter.transaction(({ limit }) => limit("posts", { key }), { retryFor: 200 }),
    );
    finish.abort();
    await holding;
    expect(error).toBeInstanceOf(RateLimitStoreError);
    expect((error as Error).cause).toBeInstanceOf(Error);
    expect((error as Error).message).not.toContain(key);
  });
});

describe.runIf(mysqlUrl !== undefined)("transaction on MariaDB", () => {
  it("fails in time while another transaction has inserted its row", async () => {
    const { database, limiter } = await setUp("mysql", () => createMysql());
    const { prisma } = database as unknown as Awaited<ReturnType<typeof createMysql>>;
    const transaction = prisma.$transaction(
      async (tx) => {
        await createRateLimiter({ store: prismaStore(prisma), limits })
          .using(tx)
          .limit("posts");
        const work = limiter.transaction(({ limit }) => limit("posts"), { retryFor: 300 });
        expect(await timed(failure(work))).toBeLessThan(3000);
      },
      { timeout: 15_000 },
    );
    await transaction;
  });
});

async function idOf(tx: unknown, text: string): Promise<string> {
  if (typeof tx === "object" && tx !== null && "$queryRawUnsafe" in tx) {
    const rows = await (
      tx as { $queryRawUnsafe(sql: string): Promise<{ id: unknown }[]> }
    ).$queryRawUnsafe(text);
    return String(rows[0]!.id);
  }
  const { rows } = await (tx as pg.PoolClient).query<{ id: number }>(text);
  return String(rows[0]!.id);
}

describe("transaction when the application's function fails", () => {
  it("passes its errors through unchanged, those of its own queries included", async () => {
    await using database = await createPostgres();
    const { prisma } = database;
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
    const data = { name: "once", used: 1, ts: 0 };
    await prisma.rateLimit.create({ data });
    const duplicate = limiter.transaction(async ({ tx, limit }) => {
      await limit("posts");
      await tx.rateLimit.create({ data });
    });
    await expect(duplicate).rejects.toMatchObject({ code: "P2002" });
    const own = new Error("not today");
    expect(await failure(limiter.transaction(() => Promise.reject(own)))).toBe(own);
    expect((await limiter.getValue("posts")).value).toBe(20);
  });

  it("runs again after a conflict in a query of its own", async () => {
    await using database = await createPostgres();
    const { prisma } = database;
    const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
    await prisma.rateLimit.create({ data: { name: "data", used: 1, ts: 0 } });
    let runs = 0;
    await limiter.transaction(async ({ tx, limit }) => {
      await limit("posts");
      if (runs++ === 0) {
        await prisma.rateLimit.updateMany({ where: { name: "data" }, data: { used: 2 } });
      }
      await tx.rateLimit.updateMany({ where: { name: "data" }, data: { used: 3 } });
    });
    expect(runs).toBe(2);
    expect((await limiter.getValue("posts")).value).toBe(19);
  });
});
