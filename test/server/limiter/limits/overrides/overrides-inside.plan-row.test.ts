/**
 * An override and a customer's plan, which is a row of the application, in one transaction. The
 * application began the transaction by its client, at the client's default level.
 */
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { CompiledQuery } from "kysely";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import { drizzleStore } from "../../../../../server/drizzle/index.js";
import {
  createRateLimiter,
  DAY,
  mysqlStore,
  pgStore,
  prismaStore,
  type RateLimitStore,
} from "../../../../../server/index.js";
import { kyselyStore } from "../../../../../server/kysely/index.js";
import { connectMysql, connectPostgres, connectSqlite } from "../../../../support/clients.js";
import { connectPool } from "../../../../support/connect-pool.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../../../support/database.js";
import { connectMysql2 } from "../../../../support/open-mysql.js";
import { connectKysely } from "../../../../support/open-orm.js";

interface Opened {
  store: RateLimitStore;
  run(text: string): Promise<unknown>;
  /** Runs `work` in a transaction, with a function that runs a statement in it. */
  transact(
    work: (tx: unknown, run: (text: string) => Promise<unknown>) => Promise<void>,
  ): Promise<void>;
  close(): Promise<unknown>;
}
type Connect = (url: string) => Opened;

const throughPrisma =
  (connect: (url: string) => unknown, poolOf?: (url: string) => ReturnType<typeof connectPool>) =>
  (url: string): Opened => {
    const prisma = connect(url) as ReturnType<typeof connectSqlite>;
    const pool = poolOf?.(url);
    return {
      store: prismaStore(prisma, pool && { pool }) as RateLimitStore,
      run: (text) => prisma.$executeRawUnsafe(text),
      transact: (work) =>
        prisma.$transaction((tx) => work(tx, (text) => tx.$executeRawUnsafe(text))),
      async close() {
        await prisma.$disconnect();
        await pool?.end();
      },
    };
  };

const throughPg: Connect = (url) => {
  const pool = connectPool(url);
  return {
    store: pgStore(pool) as RateLimitStore,
    run: (text) => pool.query(text),
    async transact(work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        await work(client, (text) => client.query(text));
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
};

const throughDrizzle: Connect = (url) => {
  const pool = connectPool(url);
  const db = drizzle({ client: pool });
  return {
    store: drizzleStore(db) as RateLimitStore,
    run: (text) => pool.query(text),
    transact: (work) => db.transaction((tx) => work(tx, async (text) => tx.execute(sql.raw(text)))),
    close: () => pool.end(),
  };
};

const throughKysely: Connect = (url) => {
  const db = connectKysely("postgresql", url);
  return {
    store: kyselyStore(db) as RateLimitStore,
    run: (text) => db.executeQuery(CompiledQuery.raw(text)),
    transact: (work) =>
      db
        .transaction()
        .execute((tx) => work(tx, (text) => tx.executeQuery(CompiledQuery.raw(text)))),
    close: () => db.destroy(),
  };
};

const throughMysql2: Connect = (url) => {
  const pool = connectMysql2(url);
  return {
    store: mysqlStore(pool) as RateLimitStore,
    run: (text) => pool.query(text),
    async transact(work) {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await work(connection, (text) => connection.query(text));
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
    },
    close: () => pool.end(),
  };
};

type Create = () => Promise<TestDatabase>;
const clients: [name: string, create: Create, connect: Connect][] = [
  ["pg", createPostgres, throughPg],
  ["Prisma", createPostgres, throughPrisma(connectPostgres)],
  ["Prisma and a pool", createPostgres, throughPrisma(connectPostgres, connectPool)],
  ["Drizzle", createPostgres, throughDrizzle],
  ["Kysely", createPostgres, throughKysely],
  ["Prisma on SQLite", createSqlite, throughPrisma(connectSqlite)],
];
if (mysqlUrl !== undefined) {
  clients.push(
    ["Prisma on MySQL or MariaDB", createMysql, throughPrisma(connectMysql)],
    ["mysql2", createMysql, throughMysql2],
  );
}

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const ada = { key: "ada" } as const;
const failure = new Error("the payment has failed");
const UPGRADE = "UPDATE account SET plan = 'pro' WHERE id = 'ada'";

async function opened(create: Create, connect: Connect) {
  const database = await create();
  const [client, other] = [connect(database.url), connect(database.url)];
  await client.run("CREATE TABLE account (id VARCHAR(10) PRIMARY KEY, plan VARCHAR(10))");
  await client.run("INSERT INTO account VALUES ('ada', 'free')");
  const clock = createManualClock(20_000 * DAY);
  const limiters = [client, other].map(({ store }) =>
    createRateLimiter({
      store,
      limits: { pictures: free },
      clock,
      overrides: true,
      overridesFor: 0,
    }),
  );
  await limiters[0]!.limit("pictures", { ...ada, count: 5 });
  const plan = async () => {
    const rows = await database.prisma.$queryRawUnsafe("SELECT plan FROM account");
    return (rows as { plan: string }[])[0]!.plan;
  };
  return {
    client,
    other,
    limiters,
    plan,
    left: () => Promise.all(limiters.map(async (by) => (await by.getValue("pictures", ada)).value)),
    async [Symbol.asyncDispose]() {
      await client.close();
      await other.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

describe.each(clients)(
  "an override and the plan of a customer through %s",
  (_, create, connect) => {
    it("are committed together, or rolled back", async () => {
      await using at = await opened(create, connect);
      const [limiter] = at.limiters;
      const upgrade = (isPaid: boolean) =>
        at.client.transact(async (tx, run) => {
          const { overrides, limit } = limiter!.using(tx as never);
          await run(UPGRADE);
          await overrides.set("pictures", { ...ada, config: { ...free, rate: 50 } });
          expect(await limit("pictures", ada)).toMatchObject({ ok: true, value: 44 });
          if (!isPaid) throw failure;
        });
      await expect(upgrade(false)).rejects.toThrow(failure.message);
      expect(await at.left()).toEqual([0, 0]);
      expect(await limiter!.overrides.list()).toEqual([]);
      expect(await at.plan()).toBe("free");
      await upgrade(true);
      expect(await at.left()).toEqual([44, 44]);
      expect(await at.plan()).toBe("pro");
      await at.client.transact(async (tx, run) => {
        await run("UPDATE account SET plan = 'free' WHERE id = 'ada'");
        expect(await limiter!.using(tx as never).overrides.clear("pictures", ada)).toBe(true);
      });
      expect(await at.left()).toEqual([0, 0]);
      expect(await at.plan()).toBe("free");
    });
    it("move once where several transactions change them at the same time", async () => {
      await using at = await opened(create, connect);
      const times = [3, 4, 5, 6];
      const change = (each: number, i: number) =>
        (i % 2 ? at.client : at.other).transact(async (tx, run) => {
          const { overrides } = at.limiters[i % 2 ? 0 : 1]!.using(tx as never);
          await overrides.set("pictures", { ...ada, times: each });
          await run(`UPDATE account SET plan = 'times ${each}' WHERE id = 'ada'`);
        });
      // What meets a conflict is rolled back, and only its owner could try again.
      const settled = await Promise.allSettled(times.map(change));
      expect(settled.map(({ status }) => status)).toContain("fulfilled");
      const [last] = await at.limiters[0]!.overrides.list();
      expect(await at.plan()).toBe(`times ${last!.times}`);
      expect(await at.left()).toEqual([5 * last!.times! - 5, 5 * last!.times! - 5]);
    });
  },
);
