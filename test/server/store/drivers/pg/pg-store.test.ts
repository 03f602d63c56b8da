import { setImmediate } from "node:timers/promises";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import { createRateLimiter, MINUTE, pgStore } from "../../../../../server/index.js";
import { pgDriver } from "../../../../../server/store/drivers/pg/pg-driver.js";
import { createPostgres } from "../../../../support/database.js";
import { connectPool } from "../../../../support/open-store.js";

const limits = {
  few: { kind: "token bucket", rate: 10, period: MINUTE },
  tenths: { kind: "fixed window", rate: 1, period: MINUTE, start: 0, maxReserved: 1 },
} as const;

async function setUp(connections = 2) {
  const database = await createPostgres();
  const pool = connectPool(database.url, connections);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => pool.end());
  const limiter = createRateLimiter({ store: pgStore(pool), limits });
  return { database, pool, limiter };
}

describe("pgStore on a client of the application", () => {
  async function setUpClient() {
    const { database } = await setUp();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(() => client.end());
    return { client, limiter: createRateLimiter({ store: pgStore(client), limits }) };
  }
  const taken = async ({ limiter }: Awaited<ReturnType<typeof setUpClient>>) =>
    10 - Math.floor((await limiter.getValue("few")).value);

  it("takes nothing inside of a transaction of the application, which could roll it back", async () => {
    const started = await setUpClient();
    const { client, limiter } = started;
    expect((await limiter.limit("few")).ok).toBe(true);
    await client.query("BEGIN");
    await expect(limiter.limit("few")).rejects.toThrow("call limiter.using(client)");
    expect((await limiter.using(client).limit("few")).ok).toBe(true);
    await expect(client.query("SELECT no_such_column")).rejects.toThrow("no_such_column");
    await expect(limiter.limit("few")).rejects.toThrow("call limiter.using(client)");
    await client.query("ROLLBACK");
    expect(await taken(started)).toBe(1);
    expect((await limiter.limit("few")).ok).toBe(true);
    expect(await taken(started)).toBe(2);
  });

  it("grants nothing if a transaction begins while the call waits for the client", async () => {
    const started = await setUpClient();
    const { client, limiter } = started;
    await limiter.limit("few");
    const begun = client.query("BEGIN");
    await expect(limiter.limit("few")).rejects.toThrow("call limiter.using(client)");
    await begun;
    await client.query("ROLLBACK");
    expect(await taken(started)).toBe(1);
  });
});

describe("pgStore", () => {
  it("joins a transaction that the caller began on a client of the pool", async () => {
    const { pool, limiter } = await setUp();
    const client = await pool.connect();
    await client.query("BEGIN");
    expect(await limiter.using(client).limit("few", { count: 4 })).toMatchObject({
      ok: true,
      value: 6,
    });
    await client.query("ROLLBACK");
    client.release();
    expect((await limiter.getValue("few")).value).toBe(10);
  });

  it("passes a client to the callback of `transaction`, and rolls back when the callback throws", async () => {
    const { pool, limiter } = await setUp();
    await pool.query("CREATE TABLE posts (id int)");
    const post = (fails: boolean) =>
      limiter.transaction(async ({ tx, limit }) => {
        await limit("few", { throws: true });
        await tx.query({ text: "INSERT INTO posts VALUES (1)" });
        if (fails) throw new Error("post failed");
      });
    await post(false);
    await expect(post(true)).rejects.toThrow("post failed");
    expect((await pool.query("SELECT * FROM posts")).rowCount).toBe(1);
    expect(Math.floor((await limiter.getValue("few")).value)).toBe(9);
  });

  it("fails a transaction that hides the error of one of its statements: nothing was committed", async () => {
    const { limiter } = await setUp();
    const hides = limiter.transaction(async ({ tx, limit }) => {
      await limit("few", { throws: true });
      await tx.query({ text: "SELECT 1 FROM missing" }).catch(() => {});
    });
    await expect(hides).rejects.toThrow("one of its statements had failed");
    expect((await limiter.getValue("few")).value).toBe(10);
  });

  it("takes the tokens of the first calls in one statement, after the table was checked", async () => {
    const { pool } = await setUp();
    const texts: string[] = [];
    pool.on("connect", (client) => {
      const query = client.query.bind(client);
      client.query = ((config: { text: string }, ...rest: []) => {
        texts.push(config.text.trim().split(/\s+/, 2).join(" "));
        return query(config, ...rest);
      }) as typeof client.query;
    });
    const limiter = createRateLimiter({ store: pgStore(pool), limits });
    await Promise.all([..."abcdefgh"].map((key) => limiter.limit("few", { key })));
    expect(texts).toEqual(["SELECT n.nspname::text", "INSERT INTO"]);
  });

  it("prepares its statement once per connection, and not at all with `prepare: false`", async () => {
    const { pool } = await setUp(1);
    const prepared = async () =>
      (await pool.query("SELECT name FROM pg_prepared_statements")).rows as { name: string }[];
    const off = createRateLimiter({ store: pgStore(pool, { prepare: false }), limits });
    await off.limit("few");
    expect(await prepared()).toEqual([]);
    const on = createRateLimiter({ store: pgStore(pool), limits });
    for (let i = 0; i < 3; i++) await on.limit("few");
    const names = await prepared();
    expect(names.length).toBeGreaterThan(0);
    for (const { name } of names) expect(name).toMatch(/^rate_limit_[0-9a-z]+$/);
    // A second store on the same connection, as after a reload, uses the same names.
    const again = createRateLimiter({ store: pgStore(pool), limits });
    for (let i = 0; i < 3; i++) await again.limit("few");
    expect(await prepared()).toEqual(names);
  });

  it("names a missing table in the error, and accepts another table name", async () => {
    const { pool } = await setUp();
    await pool.query('ALTER TABLE "RateLimit" RENAME TO "rate ""limits"""');
    const missing = createRateLimiter({ store: pgStore(pool), limits });
    await expect(missing.limit("few")).rejects.toThrow(/"RateLimit" does not exist/);
    const limiter = createRateLimiter({ store: pgStore(pool, { table: 'rate "limits"' }), limits });
    expect(await limiter.limit("few")).toMatchObject({ ok: true });
  });

  it("takes fractions of tokens from many keys at once, exactly", async () => {
    const { pool } = await setUp();
    const clock = createManualClock();
    const store = pgStore(pool);
    const limiter = createRateLimiter({ store, limits, clock });
    // 1 - 0.1 is not 0.9 in doubles, so the total cannot be computed from the remaining tokens.
    const keys = ["a", "b", "__proto__", 'quo"te', "\\", "ä"];
    for (let round = 1; round <= 3; round++) {
      const results = await Promise.all(
        keys.map((key) => limiter.limit("tenths", { key, count: 0.1 })),
      );
      for (const { ok, value } of results) {
        expect(ok).toBe(true);
        expect(value).toBeCloseTo(1 - round / 10, 12);
      }
    }
    const reserved = await Promise.all(
      keys.map((key) => limiter.limit("tenths", { key, count: 1.2, reserve: true })),
    );
    for (const result of reserved) expect(result).toMatchObject({ ok: true });
    expect(await limiter.check("tenths", { key: "a", count: 0.1 })).toMatchObject({ ok: false });
  });

  it("answers calls on other keys when one row holds an extreme number", async () => {
    const { pool, limiter } = await setUp();
    await pool.query(`INSERT INTO "RateLimit" VALUES ('few', 'poisoned', 0, 1, -1.7e308)`);
    const results = await Promise.all(
      ["a", "poisoned", "b"].map((key) => limiter.limit("few", { key })),
    );
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
  });
});

describe("the pg driver", () => {
  it("rejects a transaction that takes too long, and replaces its connection", async () => {
    const { pool } = await setUp(1);
    const driver = pgDriver(pool);
    const slow = driver.transaction(
      (client) => driver.within(client).query("SELECT pg_sleep(5)", []),
      { isolationLevel: "Serializable", timeout: 50 },
    );
    await expect(slow).rejects.toThrow("the transaction took longer than 50 ms");
    expect(await driver.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
  });

  it("rejects when no connection is free within maxWait, and returns a late connection to the pool", async () => {
    const { pool } = await setUp(1);
    const driver = pgDriver(pool);
    const client = await pool.connect();
    const late = driver.transaction(async () => {}, {
      isolationLevel: "Serializable",
      maxWait: 30,
    });
    await expect(late).rejects.toThrow("no connection was free within 30 ms");
    client.release();
    expect(await driver.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
  });

  it("keeps using a connection after a statement on it failed", async () => {
    const { pool } = await setUp(1);
    const driver = pgDriver(pool);
    const pid = async () => (await driver.query("SELECT pg_backend_pid() AS pid", []))[0]!["pid"];
    const before = await pid();
    await expect(driver.query("SELECT 1 / 0", [])).rejects.toThrow("division by zero");
    expect(await pid()).toBe(before);
  });
});

describe("pgStore on a pool that ends", () => {
  it("fails its calls with a store error, and ends no process", async () => {
    await using database = await createPostgres();
    const pool = connectPool(database.url, 1);
    const limiter = createRateLimiter({
      store: pgStore(pool),
      limits,
      timeout: 300,
      logger: false,
    });
    await limiter.limit("few");
    // Holds the only connection, so that one call waits for it while the pool ends.
    const mine = await pool.connect();
    const waiting = Promise.allSettled([limiter.limit("few", { key: "waits" })]);
    await setImmediate();
    const ended = pool.end();
    const late = Promise.allSettled([
      limiter.limit("few", { key: "late" }),
      limiter.transaction(({ limit }) => limit("few")),
    ]);
    mine.release();
    await ended;
    for (const each of [...(await waiting), ...(await late)]) {
      expect(each).toMatchObject({ status: "rejected", reason: { name: "RateLimitStoreError" } });
    }
  });
});
