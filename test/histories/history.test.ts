import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { HOUR } from "../../server/index.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  sharedDatabases,
  type TestDatabase,
} from "../support/database.js";
import { isNightly } from "../support/nightly.js";
import { hasBetterSqlite3 } from "../support/open-sqlite.js";
import { hasPrisma6 } from "../support/prisma-6.js";
import { type PostgresServer, startPostgres } from "../support/postgres-server.js";
import { createRedisRows, redisUrl } from "../support/redis-rows.js";
import { expectLinearizable, expectSomeLinearizable } from "./expect-linearizable.js";
import { startLossyProxy } from "./lossy-proxy.js";
import { startWorkers } from "./workers.js";

/** `npm test` checks the databases. `npm run test:drivers` checks other drivers for the same databases. */
const checksOthers = process.env["TEST_STORES"] === "drivers";

/** Without the project of Prisma 6, `test/drivers/prisma-6.test.ts` reports a skipped test. */
const others = [
  { name: "PostgreSQL through Drizzle on postgres-js", kind: "drizzle postgres-js" as const },
  ...(hasPrisma6
    ? [{ name: "PostgreSQL through Prisma 6", kind: "prisma 6 postgresql" as const }]
    : []),
].map((driver) => ({
  ...driver,
  provider: "postgresql" as const,
  create: (): Promise<TestDatabase> => createPostgres(),
}));
/** Without better-sqlite3, `test/drivers/better-sqlite3.test.ts` reports a skipped test. */
const synchronous = {
  name: "SQLite through better-sqlite3",
  kind: "better-sqlite3" as const,
  provider: "sqlite" as const,
  create: createSqlite,
};
const throughMysql2 = {
  name: "MySQL or MariaDB through mysql2",
  kind: "mysql2" as const,
  provider: "mysql" as const,
  create: (): Promise<TestDatabase> => createMysql(),
};
/** Without Redis, `test/server/redis/redis-store.test.ts` reports a skipped test. */
const redis = {
  name: "Redis",
  kind: "redis" as const,
  provider: "redis" as const,
  create: async () => createRedisRows(),
};
const databases = checksOthers
  ? [
      ...others,
      ...(hasBetterSqlite3 ? [synchronous] : []),
      ...(mysqlUrl === undefined ? [] : [throughMysql2]),
    ]
  : [...sharedDatabases, ...(redisUrl === undefined ? [] : [redis])];

/** PostgreSQL gets a longer history, because it answers faster, and the night a longer one than the day. */
const length = isNightly ? 300 : 150;
const guarded = databases.map((database) => ({
  ...database,
  answers: database.provider === "postgresql" ? 2 * length : length,
  isolation: undefined,
}));
const serializable = databases
  .filter(({ provider }) => provider === "postgresql")
  .map((database) => ({ ...database, answers: length, isolation: "serializable" as const }));

/** The number of callers of each process. One caller never shares a batch. */
const callers = [1, 3, 6];
/** A short timeout, for tests with outages. */
const shortTimeout = { callers, timeout: 1000 };
const toPostgres = checksOthers ? (["pg and prisma"] as const) : (["postgresql", "pg"] as const);
/** MySQL is left out without TEST_MYSQL_URL, as `test/server/store/sql/mysql/mysql.test.ts` reports. */
const throughProxies = [
  ...toPostgres.map((kind) => ({ kind, create: () => createPostgres() })),
  ...(checksOthers || redisUrl === undefined ? [] : [redis]),
  ...(["mysql2", "mariadb"] as const)
    .filter(() => checksOthers && mysqlUrl !== undefined)
    .map((kind) => ({ kind, create: () => createMysql() })),
];

it.each([...guarded, ...serializable])(
  "three processes on $name, isolation $isolation, have a linearizable history",
  { timeout: 60_000 },
  async ({ kind, create, answers, isolation }) => {
    await using database = await create();
    const { url } = database;
    await using workers = await startWorkers({ kind, url, callers, isolation });
    await workers.answered(answers);
    await workers.stop();
    expect(workers.history.every(({ answer }) => answer !== undefined)).toBe(true);
    expectLinearizable(workers.history);
  },
);

it.each(guarded)(
  "three processes on $name have a linearizable history while two of them are killed and replaced",
  { timeout: 120_000 },
  async ({ kind, create }) => {
    await expectSomeLinearizable(async () => {
      await using database = await create();
      await using workers = await startWorkers({ kind, url: database.url, callers });
      for (const victim of [1, 2]) {
        await workers.answered(60);
        await workers.replace(victim);
      }
      await workers.answered(60);
      await workers.stop();
      return workers.history;
    });
  },
);

it.each(guarded)(
  "three processes on $name have a linearizable history while their clocks jump by an hour",
  { timeout: 60_000 },
  async ({ kind, create }) => {
    await using database = await create();
    const { url } = database;
    const skews = [HOUR, 0, -HOUR];
    await using workers = await startWorkers({ kind, url, callers, skews });
    await workers.answered(100);
    await workers.stop();
    expect(workers.history.every(({ answer }) => answer !== undefined)).toBe(true);
    expectLinearizable(workers.history);
  },
);

it.each(toPostgres)(
  "three processes (%s) have a linearizable history while PostgreSQL is killed and restarted",
  { timeout: 120_000 },
  async (kind) => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    await expectSomeLinearizable(async () => {
      await using database = await createPostgres(server.url);
      await using workers = await startWorkers({ ...shortTimeout, kind, url: database.url });
      await workers.answered(200);
      for (let kills = 0; kills < 2; kills++) {
        await server.kill();
        await workers.failed();
        await restart(server);
        await workers.answered(200);
      }
      await workers.stop();
      return workers.history;
    });
  },
);

it.each(throughProxies)(
  "three processes ($kind) have a linearizable history while answers of the database are lost",
  { timeout: 120_000 },
  async ({ kind, create }) => {
    await expectSomeLinearizable(async () => {
      await using database = await create();
      await using proxy = await startLossyProxy(database.url);
      await using workers = await startWorkers({ ...shortTimeout, kind, url: proxy.url });
      for (let cuts = 0; cuts < 4; cuts++) {
        await workers.answered(50);
        await proxy.cut();
      }
      await workers.answered(50);
      await workers.stop();
      const lost = workers.history.filter(({ answer }) => answer === undefined);
      // ioredis sends such a command again, and gets the answer of the first try.
      if (kind !== "redis") expect(lost).not.toEqual([]);
      return workers.history;
    });
  },
);

/** Tries until the server starts. The server cannot start before the old server's processes have ended. */
async function restart(server: PostgresServer): Promise<void> {
  for (;;) {
    try {
      return await server.start();
    } catch (error) {
      if (!String(error).includes("still in use")) throw error;
      await setTimeout(50);
    }
  }
}
