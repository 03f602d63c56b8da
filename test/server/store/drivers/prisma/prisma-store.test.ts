import type * as mariadb from "mariadb";
import mysql2 from "mysql2";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import type { PrismaStoreOptions } from "../../../../../server/index.js";
import {
  connectMysql,
  connectPostgres,
  connectSqlite,
  type MysqlClient,
} from "../../../../support/clients.js";
import { createMysql, mysqlUrl } from "../../../../support/database.js";
import { connectMariadb, connectMysql2 } from "../../../../support/open-mysql.js";
import { recordStatements } from "../../../../support/record-statements.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

describe("prismaStore with a pool", () => {
  it("throws if the pool is of another kind than the database", () => {
    const ofPg = new pg.Pool();
    const ofMysql2 = mysql2.createPool({});
    onTestFinished(() => ofMysql2.end());
    const sqlite = connectSqlite("file::memory:");
    const mysql = connectMysql("mysql://root@127.0.0.1/test");
    const postgres = connectPostgres("postgresql://root@127.0.0.1/test");
    expect(() => prismaStore(sqlite, { pool: ofPg })).toThrow(
      /pool must be left out: the provider is sqlite/,
    );
    expect(() => prismaStore(mysql, { pool: ofPg })).toThrow(
      /pool must be a pool of mysql2 or mariadb/,
    );
    expect(() => prismaStore(postgres, { pool: ofMysql2 })).toThrow(
      /pool must be a pool of pg: the provider is postgresql/,
    );
  });
});

if (mysqlUrl === undefined) {
  describe("prismaStore with a pool on MySQL or MariaDB", () => {
    it("decides through the pool", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
  });
} else {
  describe("prismaStore with a pool on MySQL or MariaDB", () => {
    type Pool = mysql2.Pool | ReturnType<typeof connectMysql2> | mariadb.Pool;
    const pools: [name: string, open: (url: string) => Pool][] = [
      ["mysql2", (url) => mysql2.createPool(url)],
      ["mysql2/promise", (url) => connectMysql2(url)],
      ["mariadb", (url) => connectMariadb(url)],
    ];
    it.each(pools)("decides through the pool, and not through Prisma (%s)", async (_, open) => {
      const database = await createMysql();
      const pool = open(database.url);
      onTestFinished(() => database[Symbol.asyncDispose]());
      onTestFinished(() => ("promise" in pool ? pool.promise().end() : pool.end()));
      const texts = new Set<string>();
      const prisma = recordStatements(database.prisma, texts) as MysqlClient;
      const options: PrismaStoreOptions = { pool };
      const limiter = createRateLimiter({ store: prismaStore(prisma, options), limits });
      expect(await limiter.limit("few", { count: 3 })).toMatchObject({ ok: true, value: 7 });
      expect(await limiter.check("few", { count: 8 })).toMatchObject({ ok: false });
      expect([...texts]).toEqual([]);
    });

    it("keeps `transaction` and `using` in transactions of Prisma", async () => {
      const database = await createMysql();
      const pool = connectMariadb(database.url);
      onTestFinished(() => database[Symbol.asyncDispose]());
      onTestFinished(() => pool.end());
      const { prisma } = database;
      await prisma.$executeRaw`CREATE TABLE posts (id int)`;
      const limiter = createRateLimiter({ store: prismaStore(prisma, { pool }), limits });
      const post = (id: number, fails: boolean) =>
        limiter.transaction(async ({ tx, limit }) => {
          await limit("few", { throws: true });
          await tx.$executeRaw`INSERT INTO posts VALUES (${id})`;
          if (fails) throw new Error("post failed");
        });
      await post(1, false);
      await expect(post(2, true)).rejects.toThrow("post failed");
      const rolledBack = prisma.$transaction(async (tx) => {
        await limiter.using(tx).limit("few", { count: 4 });
        throw new Error("rolled back");
      });
      await expect(rolledBack).rejects.toThrow("rolled back");
      expect(await prisma.$queryRaw`SELECT id FROM posts`).toEqual([{ id: 1 }]);
      expect(Math.floor((await limiter.getValue("few")).value)).toBe(9);
    });
  });
}
