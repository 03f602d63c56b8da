/** The errors that close a connection of a pool, and the errors that keep it. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, mysqlStore, pgStore } from "../../../../../server/index.js";
import type { PgClientLike, PgResult } from "../../../../../server/store/drivers/pg/pg-client.js";
import {
  createPgConnections,
  sendQuery,
} from "../../../../../server/store/drivers/pg/pg-connections.js";
import type { Done } from "../../../../../server/store/drivers/pools/connections.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../../support/database.js";
import { connectPool } from "../../../../support/connect-pool.js";
import { connectMysql2 } from "../../../../support/open-mysql.js";

const limits = { few: { kind: "fixed window", rate: 10, period: DAY, start: 0 } } as const;

/** A pool whose only connection has become read-only, as that to a former primary. */
const failedOver = {
  async pg() {
    const database = await createPostgres();
    const pool = connectPool(database.url, 1);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    const limiter = createRateLimiter({ store: pgStore(pool), limits, logger: false });
    await limiter.limit("few");
    await pool.query("SET default_transaction_read_only = on");
    return limiter;
  },
  async mysql2() {
    const database = await createMysql();
    const pool = connectMysql2(database.url, { connectionLimit: 1 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    const limiter = createRateLimiter({ store: mysqlStore(pool), limits, logger: false });
    await limiter.limit("few");
    await pool.query("SET SESSION TRANSACTION READ ONLY");
    return limiter;
  },
};

const kinds = (["pg", "mysql2"] as const).filter((kind) => kind === "pg" || mysqlUrl);

describe.each(kinds)("a connection that has become read-only (%s)", (kind) => {
  it("is replaced after a call has failed on it", async () => {
    const limiter = await failedOver[kind]();
    await expect(limiter.limit("few")).rejects.toThrow(/read.only/i);
    expect(await limiter.limit("few")).toMatchObject({ ok: true, value: 8 });
  });

  it("is replaced after a transaction has failed on it", async () => {
    const limiter = await failedOver[kind]();
    const take = () => limiter.transaction(({ limit }) => limit("few"));
    await expect(take()).rejects.toThrow(/read.only/i);
    expect(await take()).toMatchObject({ ok: true, value: 8 });
  });

  it("is replaced after a transaction has hidden its error", async () => {
    const limiter = await failedOver[kind]();
    // PostgreSQL rolls the transaction back then, and MariaDB commits nothing.
    await limiter.transaction(({ limit }) => limit("few").catch(() => {})).catch(() => {});
    const take = () => limiter.transaction(({ limit }) => limit("few"));
    expect(await take()).toMatchObject({ ok: true, value: 8 });
  });
});

describe("a connection of pg", () => {
  type Query = (query: object, callback: (error: unknown, result?: PgResult) => void) => unknown;
  const run = async (query: Query) => {
    let isClosed: boolean | undefined;
    const client = {
      query: query as PgClientLike["query"],
      release: (reason) => void (isClosed = Boolean(reason)),
      on() {},
      removeListener() {},
    } satisfies PgClientLike as PgClientLike;
    const connections = createPgConnections({
      query: client.query,
      connect: (callback) => callback(undefined, client),
    });
    const send = (lent: PgClientLike, done: Done<PgResult>) => {
      sendQuery(lent, { text: "SELECT 1" }, done);
    };
    const running = connections.runAlone(send, ({ rows }) => rows);
    const outcome = await running.catch((error: unknown) => error);
    return { isClosed, outcome };
  };

  /** Whether a connection is closed after an error of a statement. */
  async function isClosedAfter(error: object): Promise<boolean> {
    const failure = Object.assign(new Error("failed"), error);
    const ofPromise = await run(() => Promise.reject(failure));
    const ofCallback = await run((_query, callback) => callback(failure));
    expect(ofCallback).toEqual(ofPromise);
    expect(ofPromise.outcome).toBe(failure);
    return ofPromise.isClosed!;
  }

  const answer = { rows: [{ x: 1 }], rowCount: 1 };
  it.each<[string, Query]>([
    ["by its callback", (_query, callback) => callback(null, answer)],
    ["by a promise, in spite of the callback", () => Promise.resolve(answer)],
    [
      "by both",
      (_query, callback) => {
        callback(null, answer);
        return Promise.resolve(answer);
      },
    ],
  ])("may answer %s", async (_how, query) => {
    expect(await run(query)).toEqual({ isClosed: false, outcome: answer.rows });
  });

  it.each<[string, Query]>([
    [
      "throws",
      () => {
        throw new Error("not sent");
      },
    ],
    ["answers without a result", (_query, callback) => callback(null)],
  ])("that %s fails the statement, and nothing else", async (_how, query) => {
    expect((await run(query)).outcome).toBeInstanceOf(Error);
  });

  it.each([
    ["a conflict", "40001"],
    ["a deadlock", "40P01"],
    ["a missing table", "42P01"],
    ["a cancelled statement", "57014"],
  ])("is kept after %s, in any language of the server", async (_what, code) => {
    expect(await isClosedAfter({ severity: "ERROR", code })).toBe(false);
    expect(await isClosedAfter({ severity: "FEHLER", code })).toBe(false);
  });

  it.each([
    ["a shutdown of the server", { severity: "FATAL", code: "57P01" }],
    ["a shutdown, where the server says ERROR", { severity: "ERROR", code: "57P01" }],
    ["too long an idle transaction", { severity: "FATAL", code: "25P03" }],
    ["an error of a pooler", { severity: "FATAL", code: "08P01" }],
    ["an internal error of the server", { severity: "PANIC", code: "XX000" }],
    ["an answer of a standby", { severity: "ERROR", code: "25006" }],
    ["a reset connection", { code: "ECONNRESET" }],
    ["a broken pipe, whose code looks like one of PostgreSQL", { code: "EPIPE" }],
    ["an error of the client", {}],
  ])("is closed after %s", async (_what, error) => {
    expect(await isClosedAfter(error)).toBe(true);
  });
});
