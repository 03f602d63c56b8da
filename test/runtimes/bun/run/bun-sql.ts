/** The promises of pgStore and mysqlStore on Bun's client, beyond the contract of stores. */
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  MINUTE,
  mysqlStore,
  pgStore,
  sqliteStore,
} from "../../../../server/index.js";
import { createMysql, createPostgres } from "../../../support/database.js";
import { type BunSql, connectBunSql } from "../../../support/open-bun.js";

const { POSTGRES_URL = "", MYSQL_URL = "" } = process.env;
const limits = { few: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 } } as const;

interface Transaction extends BunSql {
  savepoint<TResult>(run: (tx: BunSql) => Promise<TResult>): Promise<TResult>;
}

const servers = [
  {
    name: "PostgreSQL",
    server: POSTGRES_URL,
    create: createPostgres,
    connect: (url: string, options: object) => connectBunSql(url, options),
    storeOf: (sql: BunSql) => pgStore(sql),
    idOf: "SELECT pg_backend_pid() AS id",
    kill: (id: number) => `SELECT pg_terminate_backend(${id})`,
  },
  {
    name: "MySQL or MariaDB",
    server: MYSQL_URL,
    create: createMysql,
    connect: (url: string, options: object) => connectBunSql(url, { ...options, foundRows: true }),
    storeOf: (sql: BunSql) => mysqlStore(sql),
    idOf: "SELECT CONNECTION_ID() AS id",
    kill: (id: number) => `KILL ${id}`,
  },
];

for (const { name, server, create, connect, storeOf, idOf, kill } of servers) {
  if (server === "") console.info(`skipped: no ${name}`);
  else {
    const setUp = async (options: object = {}) => {
      const database = await create(server);
      // Fewer than the client's ten: other tests need connections of the server, too.
      const sql = connect(database.url, { max: 4, ...options });
      await sql.unsafe("CREATE TABLE posts (title TEXT)");
      onTestFinished(async () => {
        await sql.close();
        await database[Symbol.asyncDispose]();
      });
      const posts = async () => ((await sql.unsafe("SELECT title FROM posts")) as []).length;
      return { database, sql, posts, limiter: createRateLimiter({ store: storeOf(sql), limits }) };
    };

    describe(`a client of Bun on ${name}`, () => {
      it("passes a transaction to the callback of `transaction`, and rolls back when the callback throws", async () => {
        const { limiter, posts } = await setUp();
        const post = (fails: boolean) =>
          limiter.transaction(async ({ tx, limit }) => {
            await limit("few", { throws: true });
            await (tx as unknown as Transaction).savepoint((nested) =>
              nested.unsafe("INSERT INTO posts VALUES ('first')"),
            );
            if (fails) throw new Error("post failed");
          });
        await post(false);
        await expect(post(true)).rejects.toThrow("post failed");
        expect(await posts()).toBe(1);
        expect((await limiter.getValue("few")).value).toBe(9);
      });

      it("joins a transaction of `begin`, and is rolled back with it", async () => {
        const { sql, limiter } = await setUp();
        const failing = sql.begin(async (tx) => {
          expect((await limiter.using(tx).limit("few", { count: 4 })).ok).toBe(true);
          throw new Error("rolled back");
        });
        await expect(failing).rejects.toThrow("rolled back");
        expect((await limiter.getValue("few")).value).toBe(10);
        expect(() => limiter.using(sql)).toThrow(/what sql\.begin\(\) passes to its function/);
      });

      it("resolves with an array of promises as it is", async () => {
        const { limiter } = await setUp();
        const result = await limiter.transaction(async ({ limit }) => [limit("few")]);
        expect(result[0]).toBeInstanceOf(Promise);
        expect((await result[0]!).ok).toBe(true);
      });

      it("ends a transaction that takes too long, and refuses its later statements", async () => {
        const { limiter, posts } = await setUp();
        // Connect first, so that the transaction's time is not spent on connecting.
        await limiter.limit("few", { key: "first" });
        let later: Promise<unknown> | undefined;
        let ended = () => {};
        const end = new Promise<void>((resolve) => (ended = resolve));
        const slow = limiter.transaction(
          async ({ tx, limit }) => {
            // On a busy machine, the time may be over before this call has an answer.
            await limit("few", { throws: true }).catch(() => {});
            await slowly;
            later = tx.unsafe("INSERT INTO posts VALUES ('late')");
            await later.catch(() => ended());
          },
          { timeout: 300, retryFor: 0 },
        );
        const slowly = slow.catch(() => {});
        await expect(slow).rejects.toThrow("the transaction took longer than 300 ms");
        await end;
        await expect(later!).rejects.toThrow(/closed|ended|transaction/i);
        expect(await posts()).toBe(0);
        expect((await limiter.getValue("few")).value).toBe(10);
      });

      // On MySQL, a failed statement does not end its transaction.
      it.skipIf(name !== "PostgreSQL")(
        "rejects a transaction that can no longer be committed",
        async () => {
          const { limiter } = await setUp();
          const hiding = limiter.transaction(async ({ tx, limit }) => {
            await limit("few", { throws: true });
            await tx.unsafe("SELECT 1 / 0").catch(() => {});
          });
          await expect(hiding).rejects.toThrow(/was rolled back, because one of its statements/);
          expect((await limiter.getValue("few")).value).toBe(10);
        },
      );

      // Bun declares 2 as an integer and 1.5 as a double. MySQL has no types of parameters.
      it.skipIf(name !== "PostgreSQL")(
        "prepares a statement once, for whole numbers and for others",
        async () => {
          const { sql, limiter } = await setUp({ max: 2 });
          // So many calls that each connection gets both kinds.
          for (const count of [1, 1, 1.5, 1.5, 1, 1, 1.5, 1.5])
            expect((await limiter.limit("few", { count })).ok).toBe(true);
          const lent = await Promise.all([sql.reserve(), sql.reserve()]);
          const texts: string[][] = [];
          for (const each of lent) {
            const rows = await each.unsafe("SELECT statement FROM pg_prepared_statements");
            texts.push((rows as { statement: string }[]).map(({ statement }) => statement));
          }
          await Promise.all(lent.map((each) => each.release()));
          expect(texts.flat().some((text) => text.includes('"RateLimit"'))).toBe(true);
          for (const each of texts) expect(new Set(each).size).toBe(each.length);
        },
      );

      it("goes on after the server has closed its connections", async () => {
        const { sql, limiter } = await setUp({ max: 2 });
        expect((await limiter.limit("few")).ok).toBe(true);
        const admin = connect(server, { max: 1 });
        onTestFinished(() => admin.close());
        const lent = await Promise.all([sql.reserve(), sql.reserve()]);
        for (const each of lent) {
          const [{ id }] = (await each.unsafe(idOf)) as [{ id: number }];
          await admin.unsafe(kill(id));
        }
        await Promise.all(lent.map((each) => each.release()));
        // A call that meets a closed connection may fail, but is never charged twice.
        const failures: unknown[] = [];
        for (let granted = 0; granted < 5 && failures.length < 5;) {
          await limiter.limit("few").then(
            () => granted++,
            (error: unknown) => failures.push(error),
          );
        }
        expect(failures.length).toBeLessThan(5);
        expect((await limiter.getValue("few")).value).toBe(4);
      });

      it("decides while the application holds all connections but one", async () => {
        const { sql, limiter } = await setUp({ max: 3 });
        const held = await Promise.all([sql.reserve(), sql.reserve()]);
        const grants = await Promise.all(Array.from({ length: 50 }, () => limiter.limit("few")));
        expect(grants.filter(({ ok }) => ok)).toHaveLength(10);
        await Promise.all(held.map((each) => each.release()));
      });
    });
  }
}

describe("a client of Bun is refused", () => {
  const pg = (options: object = {}) => connectBunSql("postgres://u:secret@127.0.0.1:1/x", options);
  const mysql = (options: object = {}) => connectBunSql("mysql://u@127.0.0.1:1/x", options);
  const memory = () => connectBunSql("sqlite://:memory:");
  const refusals: [what: string, open: () => unknown, message: RegExp][] = [
    ["for MySQL by pgStore", () => pgStore(mysql()), /is for mysql: use mysqlStore\(sql\)/],
    ["for SQLite by pgStore", () => pgStore(memory()), /one connection for all/],
    ["for PostgreSQL by mysqlStore", () => mysqlStore(pg()), /is for postgres: use pgStore\(sql\)/],
    ["for SQLite by sqliteStore", () => sqliteStore(memory() as never), /not a SQL client of Bun/],
    ["if it counts changed rows", () => mysqlStore(mysql()), /\{ foundRows: true \}/],
    [
      "if it renames columns",
      () => pgStore(pg({ transform: { column: (text: string) => text.toUpperCase() } })),
      /transform renames the column "name"/,
    ],
    [
      "if it should not prepare, on PostgreSQL",
      () => pgStore(pg(), { prepare: false }),
      /new SQL\(url, \{ prepare: false \}\)/,
    ],
    [
      "if it should not prepare, on MySQL",
      () => mysqlStore(mysql({ foundRows: true }), { prepare: false }),
      /prepares all statements/,
    ],
  ];
  it.each(refusals)("%s", (_what, open, message) => {
    expect(open).toThrow(message);
  });

  it("in words that do not contain its password", () => {
    expect(() => mysqlStore(pg())).not.toThrow(/secret/);
  });

  it("and a preset that keeps the names of the columns is not", () => {
    expect(() =>
      pgStore(pg({ transform: { column: { to: (text: string) => text } } })),
    ).not.toThrow();
  });
});
