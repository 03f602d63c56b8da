/**
 * A driver without interactive transactions, as over HTTP: every statement runs on any connection.
 * The statements are real, and run on PostgreSQL.
 */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createRateLimiter,
  MINUTE,
  prismaStore,
  type RateLimitStore,
  sqlStore,
} from "../../server/index.js";
import { pgDriver } from "../../server/store/drivers/pg/pg-driver.js";
import { DatabaseClock } from "../../server/store/sql/table/database-clock.js";
import type { SqlDriver } from "../../server/store/sql/driver.js";
import { postgresql } from "../../server/store/sql/postgresql/postgresql.js";
import { createPostgres, createSqlite } from "../support/database.js";
import { connectPool } from "../support/open-store.js";
import { recordStatements } from "../support/record-statements.js";
import { describeStore } from "../server/store/contract.js";

/** Two drivers without transactions, on one database. */
async function open() {
  const database = await createPostgres();
  const pools = [1, 2].map(() => connectPool(database.url));
  const drivers = pools.map((pool) => {
    const { transaction: _ignored, ...driver } = pgDriver(pool);
    return driver as SqlDriver;
  });
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await database[Symbol.asyncDispose]();
  };
  return { drivers, pools, close };
}

describeStore("sqlStore on a driver without transactions", async () => {
  const { drivers, close } = await open();
  const [store, peer] = drivers.map((driver) => {
    // The contract skips its transactions for a store that does not offer them.
    const { transaction: _ignored, ...single } = sqlStore(driver);
    return single;
  });
  return { store: store!, peer: peer!, close };
});

describe("a statement with several kinds of write", () => {
  const statements = postgresql.statements(
    { name: "RateLimit" },
    new DatabaseClock(),
    "PostgreSQL 15.5",
  );
  const at = (key: string) => ({ name: "n", key, shard: 0 });
  const [was, next] = [
    { used: 5, ts: 1 },
    { used: 4, ts: 2 },
  ];

  async function start() {
    const { drivers, pools, close } = await open();
    onTestFinished(close);
    const [pool] = pools;
    for (const key of ["updated", "deleted"]) {
      await pool!.query(`INSERT INTO "RateLimit" VALUES ('n', $1, 0, 5, 1)`, [key]);
    }
    const rows = async () => {
      const { rows: found } = await pool!.query(
        `SELECT "key", "used" FROM "RateLimit" ORDER BY "key"`,
      );
      return found.map(({ key, used }: { key: string; used: number }) => [key, used]);
    };
    const writes = [
      { row: at("inserted"), was: null, next },
      { row: at("updated"), was, next },
      { row: at("deleted"), was, next: null },
      { row: at("absent"), was: null, next: null },
    ];
    return { driver: drivers[0]!, pool: pool!, rows, writes };
  }
  const untouched = [
    ["deleted", 5],
    ["updated", 5],
  ];

  it("writes all rows", async () => {
    const { driver, rows, writes } = await start();
    expect((await statements.writeAtOnce!(driver, writes)).size).toBe(4);
    expect(await rows()).toEqual([
      ["inserted", 4],
      ["updated", 4],
    ]);
  });

  it.each(["inserted", "updated", "deleted", "absent"])(
    "writes nothing if the row %s is not as it was",
    async (key) => {
      const { driver, pool, rows, writes } = await start();
      const text = `INSERT INTO "RateLimit" VALUES ('n', $1, 0, 9, 9)
        ON CONFLICT ("name", "key", "shard") DO UPDATE SET "used" = 9`;
      await pool.query(text, [key]);
      const before = await rows();
      expect((await statements.writeAtOnce!(driver, writes)).size).toBe(0);
      expect(await rows()).toEqual(before);
    },
  );

  it("writes nothing if another transaction inserts one of its rows meanwhile", async () => {
    const { driver, pool, rows, writes } = await start();
    const other = await pool.connect();
    await other.query("BEGIN");
    await other.query(`INSERT INTO "RateLimit" VALUES ('n', 'inserted', 0, 9, 9)`);
    const writing = statements.writeAtOnce!(driver, writes).catch((error: unknown) => {
      // It waits for the other transaction for a bounded time.
      if (!postgresql.errors.isConflict(error)) throw error;
      return new Set();
    });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND datname = current_database()`;
    await Promise.race([
      writing,
      vi.waitFor(async () => expect((await pool.query(waiting)).rows).toHaveLength(1), {
        interval: 1,
      }),
    ]);
    await other.query("COMMIT");
    other.release();
    expect((await writing).size).toBe(0);
    expect(await rows()).toEqual([untouched[0], ["inserted", 9], untouched[1]]);
  });
});

const limits = {
  a: { kind: "token bucket", rate: 10, period: MINUTE },
  b: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;

describe("a store on a driver without transactions", () => {
  async function limiters() {
    const { drivers, pools, close } = await open();
    onTestFinished(close);
    const clock = () => Date.UTC(2030, 0, 1);
    const made = drivers.map((driver) =>
      createRateLimiter({ store: sqlStore(driver), limits, clock, timeout: 20_000, logger: false }),
    );
    return { made, drivers, pool: pools[0]! };
  }

  it("charges several limits together or not at all, new rows beside existing ones", async () => {
    const { made } = await limiters();
    await made[0]!.limit("a", { key: "k", count: 2 });
    const both = (key: string) => [
      { name: "a" as const, key },
      { name: "b" as const, key },
    ];
    const calls = Array.from({ length: 30 }, (_, i) =>
      made[i % 2]!.limitAll(i % 3 === 0 ? both("k").toReversed() : both("k")),
    );
    const granted = (await Promise.all(calls)).filter(({ ok }) => ok).length;
    expect(granted).toBe(8);
    expect((await made[0]!.getValue("a", { key: "k" })).value).toBe(0);
    expect((await made[0]!.getValue("b", { key: "k" })).value).toBe(2);
  });

  it("resets, refunds and prunes", async () => {
    const { made, pool } = await limiters();
    await made[0]!.limit("a", { count: 4 });
    await made[1]!.refund("a", { count: 1 });
    expect((await made[0]!.getValue("a")).value).toBe(7);
    await made[1]!.reset("a");
    expect((await made[0]!.getValue("a")).value).toBe(10);
    await pool.query(`INSERT INTO "RateLimit" VALUES ('b', 'old', 0, 10, 0)`);
    expect(await made[0]!.prune()).toBe(1);
  });

  it("says that `transaction` needs another driver, and refuses `isolation`", async () => {
    const { made, drivers } = await limiters();
    await expect(made[0]!.transaction(({ limit }) => limit("a"))).rejects.toMatchObject({
      kind: "StoreFailure",
      message: expect.stringMatching(
        /transaction\(\) needs a transaction, and this driver has none; use one that keeps/,
      ) as string,
    });
    expect(() => sqlStore(drivers[0]!, { isolation: "serializable" })).toThrow(
      /isolation must be left out: the driver has no transactions/,
    );
  });

  it("never begins a transaction on Cloudflare D1, where Prisma's would not be one", async () => {
    await using database = await createSqlite();
    const client = recordStatements(database.prisma, new Set());
    const d1 = new Proxy(client, {
      get(target, property) {
        if (property === "_engineConfig") return { adapter: { adapterName: "@prisma/adapter-d1" } };
        if (property === "$transaction") throw new Error("a transaction was begun");
        return Reflect.get(target, property, target) as unknown;
      },
    });
    const limiter = createRateLimiter({
      store: prismaStore(d1) as RateLimitStore,
      limits,
      logger: false,
    });
    const { ok } = await limiter.limitAll([{ name: "a" }, { name: "b" }]);
    expect(ok).toBe(true);
    expect(await limiter.limit("a", { count: 9 })).toMatchObject({ ok: true });
    await limiter.reset("b");
    await expect(limiter.transaction(({ limit }) => limit("a"))).rejects.toThrow(
      "D1 has no interactive transactions",
    );
    expect(() => limiter.using(client)).toThrow("D1 has no interactive transactions");
  });
});
