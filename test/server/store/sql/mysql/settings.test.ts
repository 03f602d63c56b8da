/** A store on MySQL or MariaDB refuses sessions in which its calls would not count, and says why not. */
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { drizzle } from "drizzle-orm/mysql2";
import { Kysely, MysqlDialect } from "kysely";
import mysql2 from "mysql2";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import { PrismaClient } from "../../../../../prisma/generated/mysql/client.js";
import { drizzleStore } from "../../../../../server/drizzle/index.js";
import {
  createRateLimiter,
  DAY,
  mysqlStore,
  prismaStore,
  type RateLimitStore,
  sqlStore,
} from "../../../../../server/index.js";
import { kyselyStore } from "../../../../../server/kysely/index.js";
import { mysqlDriver } from "../../../../../server/store/drivers/mysql/mysql-driver.js";
import type { MysqlPoolLike } from "../../../../../server/store/drivers/mysql/mysql-client.js";
import { createMysql, mysqlUrl } from "../../../../support/database.js";
import { connectMariadb } from "../../../../support/open-mysql.js";

const limits = { send: { kind: "token bucket", rate: 5, period: DAY } } as const;

/** A pool whose connections begin with these statements. */
function mysql2Pool(url: string, init: readonly string[]) {
  const pool = mysql2.createPool(url);
  pool.on("connection", (connection) => init.forEach((sql) => connection.query(sql)));
  onTestFinished(() => pool.promise().end());
  return pool;
}

/** Each way in, with statements that run on every new connection. */
const WAYS: Record<string, (url: string, init: string[]) => RateLimitStore> = {
  mysql2: (url, init) => mysqlStore(mysql2Pool(url, init)) as RateLimitStore,
  mariadb(url, initSql) {
    const pool = connectMariadb(url, { initSql });
    onTestFinished(() => pool.end());
    return mysqlStore(pool) as RateLimitStore;
  },
  Prisma(url, initSql) {
    const { hostname, port, username, pathname } = new URL(url);
    const adapter = new PrismaMariaDb({
      host: hostname,
      port: Number(port || 3306),
      user: decodeURIComponent(username),
      password: decodeURIComponent(new URL(url).password),
      database: pathname.slice(1),
      initSql,
    });
    const prisma = new PrismaClient({ adapter });
    onTestFinished(() => prisma.$disconnect());
    return prismaStore(prisma) as RateLimitStore;
  },
  Drizzle: (url, init) =>
    drizzleStore(drizzle({ client: mysql2Pool(url, init) })) as RateLimitStore,
  Kysely: (url, init) =>
    kyselyStore(
      new Kysely({ dialect: new MysqlDialect({ pool: mysql2Pool(url, init) }) }),
    ) as RateLimitStore,
};

const REFUSED: [setting: string, sql: string, said: RegExp][] = [
  ["autocommit=0", "SET autocommit = 0", /the session has autocommit=0 .*autocommit=1/],
  ["completion_type", "SET completion_type = 'CHAIN'", /completion_type other than NO_CHAIN/],
  ["sql_safe_updates=1", "SET sql_safe_updates = 1", /has sql_safe_updates=1 .*set it to 0/],
  ["sql_select_limit", "SET sql_select_limit = 1", /has an sql_select_limit/],
  [
    "character_set_connection",
    "SET character_set_connection = latin1",
    /has the character set latin1.*connect with utf8mb4/,
  ],
];

describe.runIf(mysqlUrl !== undefined)("a store on MySQL or MariaDB", () => {
  const open = async () => {
    const database = await createMysql();
    onTestFinished(() => database[Symbol.asyncDispose]());
    return database;
  };
  const limiterOn = (store: RateLimitStore) => createRateLimiter({ store, limits, logger: false });

  describe.each(Object.entries(WAYS))("through %s", (way, connect) => {
    it.each(REFUSED)("refuses a session with %s", async (_setting, sql, said) => {
      const { url } = await open();
      const limiter = limiterOn(connect(url, [sql]));
      await expect(limiter.limit("send", { key: "a" })).rejects.toThrow(said);
      await expect(limiter.transaction(({ limit }) => limit("send"))).rejects.toThrow(said);
    });

    it("lets no key end its own text under NO_BACKSLASH_ESCAPES", async () => {
      const { url } = await open();
      const store = connect(url, ["SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')"]);
      const call = limiterOn(store).limit("send", { key: `a', '"]]') OR 1 = 1 -- ` });
      if (way === "Drizzle" || way === "Kysely") {
        await expect(call).rejects.toThrow(
          /session has the SQL mode NO_BACKSLASH_ESCAPES .*leave the mode out/,
        );
      } else {
        expect(await call).toMatchObject({ ok: true, value: 4 });
      }
    });
  });

  it("refuses EMPTY_STRING_IS_NULL by name, which only MariaDB has", async ({ skip }) => {
    const { url, prisma } = await open();
    const [row] = await prisma.$queryRaw<{ version: string }[]>`SELECT VERSION() AS version`;
    const init = "SET sql_mode = CONCAT(@@sql_mode, ',EMPTY_STRING_IS_NULL')";
    if (!/mariadb/i.test(row!.version)) skip("the server is no MariaDB");
    const limiter = limiterOn(WAYS["mysql2"]!(url, [init]));
    await expect(limiter.limit("send")).rejects.toThrow(/SQL mode EMPTY_STRING_IS_NULL/);
  });

  it("refuses binlog_format=STATEMENT where the server writes a log", async () => {
    const { url } = await open();
    const pool = mysql2Pool(url, ["SET SESSION binlog_format = 'STATEMENT'"]);
    const driver = mysqlDriver(pool.promise() as unknown as MysqlPoolLike);
    // The server of the tests may write none.
    const query: typeof driver.query = (text, ...rest) =>
      driver.query(text.replace("@@log_bin", "1"), ...rest);
    const limiter = limiterOn(sqlStore({ ...driver, query }) as RateLimitStore);
    await expect(limiter.limit("send")).rejects.toThrow(
      /binlog_format=STATEMENT .*set ROW or MIXED/,
    );
  });

  it("joins a transaction that autocommit=0 has begun, and still refuses calls outside of it", async () => {
    const { url } = await open();
    const pool = mysql2Pool(url, ["SET autocommit = 0"]);
    const clock = createManualClock();
    const options = { limits, clock, logger: false } as const;
    const limiter = createRateLimiter({ ...options, store: mysqlStore(pool) });
    const connection = await pool.promise().getConnection();
    expect(await limiter.using(connection).limit("send", { key: "a" })).toMatchObject({ ok: true });
    await connection.query("COMMIT");
    connection.release();
    await expect(limiter.limit("send", { key: "a" })).rejects.toThrow("autocommit=0");
    const other = createRateLimiter({ ...options, store: mysqlStore(mysql2Pool(url, [])) });
    expect(await other.getValue("send", { key: "a" })).toMatchObject({ value: 4 });
  });
});

if (mysqlUrl === undefined) {
  it("refuses settings of MySQL", ({ skip }) => skip("needs TEST_MYSQL_URL"));
}
