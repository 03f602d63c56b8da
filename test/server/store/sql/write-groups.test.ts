/** The writes of calls that time out while the statement waits for a connection. */
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  DAY,
  mysqlStore,
  pgStore,
  type RateLimitStore,
} from "../../../../server/index.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../support/database.js";
import { connectPool } from "../../../support/connect-pool.js";
import { connectMysql2 } from "../../../support/open-mysql.js";

const few = { kind: "fixed window", rate: 10, period: DAY, start: 0 } as const;
const limits = { a: few, b: few } as const;

/** A store on a pool of one connection. */
const stores = {
  async pg() {
    const database = await createPostgres();
    const pool = connectPool(database.url, 1);
    const store = pgStore(pool) as RateLimitStore;
    return { database, pool, store, borrow: () => pool.connect() };
  },
  async mysql2() {
    const database = await createMysql();
    const pool = connectMysql2(database.url, { connectionLimit: 1 });
    const store = mysqlStore(pool) as RateLimitStore;
    return { database, pool, store, borrow: () => pool.getConnection() };
  },
};

const kinds = (["pg", "mysql2"] as const).filter((kind) => kind === "pg" || mysqlUrl);

describe.each(kinds)("a call that times out between its read and its write (%s)", (kind) => {
  async function setUp() {
    const { database, pool, store, borrow } = await stores[kind]();
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => pool.end());
    const patient = createRateLimiter({ store, limits });
    const impatient = createRateLimiter({ store, limits, timeout: 100, logger: false });
    const values = async () => [
      (await patient.getValue("a")).value,
      (await patient.getValue("b")).value,
    ];
    await values();

    /** Lends the connection to the application right after the read, until the call has failed. */
    async function timeOut(call: (limiter: typeof impatient) => Promise<unknown>) {
      const reading = once(pool, "acquire");
      const failed = call(impatient).catch((error: unknown) => error);
      await reading;
      const mine = await borrow();
      expect(await failed).toMatchObject({
        message: expect.stringMatching(/did not answer within/),
      });
      mine.release();
    }
    return { patient, timeOut, values };
  }

  const both = [{ name: "a" }, { name: "b" }] as const;

  it.each([
    ["none of which exists", []],
    ["one of which exists", ["a"]],
    ["which exist", ["a", "b"]],
  ] as const)("takes nothing from two rows, %s", async (_what, existing) => {
    const { patient, timeOut, values } = await setUp();
    for (const name of existing) await patient.limit(name);
    const before = await values();
    await timeOut((limiter) => limiter.limitAll(both));
    expect(await values()).toEqual(before);
  });

  it.each([false, true])("takes nothing from one row (which exists: %s)", async (exists) => {
    const { patient, timeOut, values } = await setUp();
    if (exists) await patient.limit("a");
    const before = await values();
    await timeOut((limiter) => limiter.limitAll([{ name: "a", count: 3 }]));
    expect(await values()).toEqual(before);
  });

  it("deletes no row", async () => {
    const { patient, timeOut, values } = await setUp();
    await patient.limit("a");
    await timeOut((limiter) => limiter.reset("a"));
    expect(await values()).toEqual([9, 10]);
  });

  it("does not keep the calls of the same batch from their tokens", async () => {
    const { patient, timeOut, values } = await setUp();
    await patient.limitAll(both);
    let other: Promise<unknown> | undefined;
    await timeOut((limiter) => {
      other = patient.limitAll([{ name: "b", count: 3 }]);
      return limiter.limitAll([{ name: "a", count: 3 }]);
    });
    expect(await other).toMatchObject({ ok: true });
    expect(await values()).toEqual([9, 6]);
  });
});
