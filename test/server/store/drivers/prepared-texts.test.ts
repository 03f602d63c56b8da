/**
 * A prepared statement of a connection is lost, or no longer fits its table. The statement was then not
 * run, so no call fails, and the statement is prepared again.
 */
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, mysqlStore, pgStore } from "../../../../server/index.js";
import { PreparedTexts, renewingTexts } from "../../../../server/store/drivers/prepared-texts.js";
import type { SqlConnection } from "../../../../server/store/sql/driver.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../support/database.js";
import { connectMariadb } from "../../../support/open-mysql.js";
import { connectPool, openStore, type StoreKind } from "../../../support/open-store.js";

const limits = {
  few: { kind: "token bucket", rate: 1000, period: MINUTE },
  other: { kind: "fixed window", rate: 1000, period: MINUTE },
} as const;

/** What `docs/table.md` has, and what a table has without it. */
const COLLATIONS = ["default", "C"].map(
  (collation) =>
    `ALTER TABLE "RateLimit" ALTER COLUMN "name" TYPE text COLLATE "${collation}", ` +
    `ALTER COLUMN "key" TYPE text COLLATE "${collation}"`,
);
const COLUMN = (length: number) =>
  `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`;
const LENGTHS = [200, 192].map(
  (length) =>
    `ALTER TABLE \`RateLimit\` MODIFY \`name\` ${COLUMN(length)}, ` +
    `MODIFY \`key\` ${COLUMN(length)} DEFAULT ''`,
);

async function setUp(create: typeof createPostgres) {
  const database = await create();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

async function setUpPool(max = 2) {
  const { url } = await setUp(createPostgres);
  const pool = connectPool(url, max);
  onTestFinished(() => pool.end());
  const prepared = async () =>
    (await pool.query("SELECT name, statement FROM pg_prepared_statements")).rows as {
      name: string;
      statement: string;
    }[];
  return { url, pool, prepared };
}

/** Each way on which statements go to the database. */
async function callAll(limiter: ReturnType<typeof limited>, failed: (error: Error) => void) {
  const noted = (work: Promise<unknown>) => work.catch(failed);
  const keys = [..."abcdefgh"];
  await Promise.all(keys.map((key) => noted(limiter.limit("few", { key }))));
  await Promise.all(
    keys.map((key) =>
      noted(
        limiter.limitAll([
          { name: "few", key },
          { name: "other", key },
        ]),
      ),
    ),
  );
  await noted(limiter.limit("few", { key: "alone" }));
  await noted(limiter.transaction(({ limit }) => limit("other", { key: "inside" })));
  await noted(limiter.list("few"));
}

const limited = (store: Parameters<typeof createRateLimiter>[0]["store"]) =>
  createRateLimiter({ store, limits, logger: false });

/** How many calls have failed, by the message. */
async function errorsAcross(kind: StoreKind, url: string, alters: readonly string[]) {
  const opened = openStore(kind, url, { connections: 4 });
  onTestFinished(() => opened.close());
  const limiter = limited(opened.store);
  const errors = new Map<string, number>();
  const failed = ({ message }: Error) => void errors.set(message, (errors.get(message) ?? 0) + 1);
  const callOften = async () => {
    // PostgreSQL keeps a plan from the sixth time on.
    for (let i = 0; i < 7; i++) await callAll(limiter, failed);
  };
  await callOften();
  for (const alter of alters) {
    const calls = callOften();
    await opened.run(alter);
    await calls;
    await callOften();
  }
  return Object.fromEntries(errors);
}

describe("a table of PostgreSQL whose columns get another collation under running processes", () => {
  it.each(["pg", "pool of prisma", "pg and prisma", "postgresql", "drizzle pg"] as const)(
    "fails no call through %s",
    async (kind) => {
      const { url } = await setUp(createPostgres);
      expect(await errorsAcross(kind, url, COLLATIONS)).toEqual({});
    },
  );

  it("has its statements prepared anew, once on each connection", async () => {
    const { pool, prepared } = await setUpPool(1);
    const limiter = limited(pgStore(pool));
    const failed = (error: Error) => expect.unreachable(error.message);
    await callAll(limiter, failed);
    const before = await prepared();
    await pool.query(COLLATIONS[0]!);
    for (let i = 0; i < 3; i++) await callAll(limiter, failed);
    const after = await prepared();
    expect(after.length).toBeGreaterThan(before.length);
    for (let i = 0; i < 3; i++) await callAll(limiter, failed);
    expect(await prepared()).toEqual(after);
    const texts = after.map(({ statement }) => statement);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("fails no call on a client of the application", async () => {
    const { url } = await setUp(createPostgres);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    const limiter = limited(pgStore(client));
    const all = () =>
      limiter.limitAll([
        { name: "few", key: "a" },
        { name: "other", key: "a" },
      ]);
    for (let i = 0; i < 7; i++) await all();
    await client.query(COLLATIONS[0]!);
    for (let i = 0; i < 3; i++) expect((await all()).ok).toBe(true);
  });

  it("asks the owner of a transaction to begin it again, which then goes on", async () => {
    const { pool } = await setUpPool();
    const limiter = limited(pgStore(pool));
    const inOwnTransaction = async () => {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const using = limiter.using(client);
        const result = await using.limitAll([
          { name: "few", key: "a" },
          { name: "other", key: "a" },
        ]);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    };
    for (let i = 0; i < 7; i++) await inOwnTransaction();
    await pool.query(COLLATIONS[0]!);
    await expect(inOwnTransaction()).rejects.toMatchObject({
      code: "P2034",
      message: expect.stringMatching(/prepared statement .* retry the transaction/) as unknown,
    });
    // Each statement of it may be an old one.
    let result: Awaited<ReturnType<typeof inOwnTransaction>> | undefined;
    for (let tries = 0; result === undefined && tries < 5; tries++) {
      result = await inOwnTransaction().catch(() => undefined);
    }
    expect(result).toMatchObject({ ok: true });
  });
});

describe("a connection that has lost what it had prepared", () => {
  it("fails no call on PostgreSQL, and prepares anew", async () => {
    const { pool, prepared } = await setUpPool(1);
    const limiter = limited(pgStore(pool));
    for (let i = 0; i < 3; i++) await limiter.limit("few");
    await pool.query("DEALLOCATE ALL");
    for (let i = 0; i < 3; i++) expect((await limiter.limit("few")).ok).toBe(true);
    expect(await prepared()).not.toEqual([]);
  });

  it("prepares no more after many losses, as behind a pooler", async () => {
    const { pool, prepared } = await setUpPool(1);
    const limiter = limited(pgStore(pool));
    for (let i = 0; i < 40; i++) {
      expect((await limiter.limit("few")).ok).toBe(true);
      await pool.query("DEALLOCATE ALL");
    }
    await limiter.limit("few");
    expect(await prepared()).toEqual([]);
  });

  it.skipIf(mysqlUrl === undefined)("fails no call on MySQL or MariaDB", async () => {
    const { url } = await setUp(createMysql as typeof createPostgres);
    const pool = connectMariadb(url, { connectionLimit: 1 });
    onTestFinished(() => pool.end());
    const limiter = limited(mysqlStore(pool));
    for (let i = 0; i < 3; i++) expect((await limiter.limit("few")).ok).toBe(true);
    // The server drops all statements. `mariadb` does not know.
    const connection = await pool.getConnection();
    await connection.changeUser({});
    await connection.release();
    for (let i = 0; i < 3; i++) expect((await limiter.limit("few")).ok).toBe(true);
  });
});

describe.skipIf(mysqlUrl === undefined)(
  "a table of MySQL or MariaDB whose columns change under running processes",
  () => {
    it.each(["mysql2", "mariadb", "mysql"] as const)("fails no call through %s", async (kind) => {
      const { url } = await setUp(createMysql as typeof createPostgres);
      expect(await errorsAcross(kind, url, LENGTHS)).toEqual({});
    });
  },
);

describe("the texts of statements", () => {
  it("change once for all statements that failed together", () => {
    const texts = new PreparedTexts();
    expect(texts.of("SELECT 1")).toBe("SELECT 1");
    const { version } = texts;
    texts.renew(version);
    texts.renew(version);
    expect(texts.of("SELECT 1")).toBe("SELECT 1 /* 1 */");
    expect(texts.of("SELECT 2")).toBe("SELECT 2 /* 1 */");
  });

  it("are sent in a new form to a client that prepares everything", async () => {
    const sent: string[] = [];
    const lost = Object.assign(new Error("lost"), { code: "26000" });
    const query = async (text: string) => {
      sent.push(text);
      if (text === "SELECT 1") throw lost;
      return [];
    };
    const connection = renewingTexts(
      { query, execute: query } as unknown as SqlConnection,
      (error) => Object.is(error, lost),
    );
    for (let i = 0; i < 2; i++) expect(await connection.query("SELECT 1", [])).toEqual([]);
    expect(sent).toEqual(["SELECT 1", "SELECT 1 /* 1 */", "SELECT 1 /* 1 */"]);
  });
});
