import { beforeEach, describe, expect, it } from "vitest";
import { RateLimitStoreError } from "../../../../../core/errors.js";
import { createManualClock } from "../../../../../core/testing.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import { createSqlite, intercept } from "../../../../support/database.js";
import { describeSqlStore } from "../../sql-contract.js";

describeSqlStore("sqlite", "prismaStore on SQLite", createSqlite);

const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

describe("prismaStore on SQLite", () => {
  let database: Awaited<ReturnType<typeof createSqlite>>;
  beforeEach(async () => {
    database = await createSqlite();
    return () => database[Symbol.asyncDispose]();
  });

  it("finds rows by the primary key, without scanning the table", async () => {
    const plans: string[] = [];
    const spy = intercept(database.prisma, async (text, params) => {
      const rows = await database.prisma.$queryRawUnsafe<{ detail: string }[]>(
        `EXPLAIN QUERY PLAN ${text}`,
        ...params,
      );
      plans.push(...rows.map(({ detail }) => detail));
    });
    const limiter = createRateLimiter({ store: prismaStore(spy), limits });
    await limiter.limit("once");
    await limiter.reset("once");
    expect(plans.filter((plan) => /SEARCH t USING/.test(plan)).length).toBeGreaterThanOrEqual(3);
    expect(plans.filter((plan) => /SCAN (t\b|RateLimit)/.test(plan))).toEqual([]);
  });

  it("sends one statement for 100 waiting calls", async () => {
    let queries = 0;
    const store = prismaStore(intercept(database.prisma, async () => void queries++));
    const limiter = createRateLimiter({ store, limits });
    await limiter.limit("once");
    queries = 0;
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => limiter.limit("once", { key: `${i}` })),
    );
    expect(queries).toBe(1);
  });

  it("sends few parameters, whatever the number of rows", async () => {
    // As Cloudflare D1 does.
    const client = intercept(database.prisma, async (_, params) => {
      if (params.length > 100) throw new Error(`too many SQL variables: ${params.length}`);
    });
    const limiter = createRateLimiter({ store: prismaStore(client), limits });
    const keys = Array.from({ length: 5000 }, (_, i) => `${i}`);
    const all = () => limiter.limitAll(keys.map((key) => ({ name: "once", key })));
    expect((await all()).ok).toBe(true);
    expect((await all()).ok).toBe(false);
    await Promise.all(keys.slice(0, 300).map((key) => limiter.reset("once", { key })));
    const results = await Promise.all(
      keys.slice(0, 600).map((key) => limiter.limit("once", { key })),
    );
    expect(results.filter(({ ok }) => ok)).toHaveLength(300);
  });

  it("keeps doubles of any size to the last bit", async () => {
    const store = prismaStore(database.prisma);
    const numbers = [
      0.1,
      -1 / 3,
      2 ** 53 - 1,
      -(2 ** 63),
      2 ** 64 + 2 ** 12,
      1.7e308,
      -1e-9,
      3e-300,
      5e-324,
    ];
    for (const [i, used] of numbers.entries()) {
      const rows = [{ name: "doubles", key: `${i}`, shard: 0 }];
      await store.apply([{ rows, decide: () => ({ result: 0, writes: [{ used, ts: -used }] }) }]);
      const [state] = await store.apply([{ rows, decide: ([found]) => ({ result: found }) }]);
      expect(state).toEqual({ used, ts: -used });
      // The guard of the next write is true only for the same bits.
      await store.apply([{ rows, decide: () => ({ result: 0, writes: [{ used: 1, ts: 2 }] }) }]);
      await store.apply([{ rows, decide: () => ({ result: 0, writes: [null] }) }]);
    }
    expect(await database.prisma.rateLimit.count()).toBe(0);
  });

  it("does not change the table for a denied call", async () => {
    const limiter = createRateLimiter({ store: prismaStore(database.prisma), limits });
    await limiter.limit("once");
    const before = await database.prisma.rateLimit.findMany();
    expect(await limiter.limit("once")).toMatchObject({ ok: false });
    await limiter.check("once", { key: "someone else" });
    expect(await database.prisma.rateLimit.findMany()).toEqual(before);
  });

  it("sees what another client wrote to the same file", async () => {
    const clock = createManualClock();
    const one = createRateLimiter({ store: prismaStore(database.prisma), limits, clock });
    const two = createRateLimiter({ store: prismaStore(database.connect()), limits, clock });
    await one.limit("once", { key: "k" });
    expect(await two.limit("once", { key: "k" })).toEqual({
      ok: false,
      retryAfter: MINUTE,
      value: 0,
    });
  });

  it("names a missing table in the error, and keeps the cause", async () => {
    await database.prisma.$executeRaw`DROP TABLE "RateLimit"`;
    const limiter = createRateLimiter({ store: prismaStore(database.prisma), limits });
    const failure = limiter.limit("once");
    await expect(failure).rejects.toBeInstanceOf(RateLimitStoreError);
    await expect(failure).rejects.toThrow(/table "RateLimit" does not exist.*migrated/);
    await expect(failure).rejects.toHaveProperty("cause.name", "TableError");
  });

  it("throws for an unknown model, isolation or provider", async () => {
    expect(() => prismaStore(database.prisma, { model: "Limits" })).toThrow(
      /no model "Limits": run "npx prisma generate" if .* models \(RateLimit, RateLimitOverride\)/,
    );
    expect(() => prismaStore(database.prisma, { isolation: "snapshot" as never })).toThrow(
      /isolation must be "serializable", or not given, got "snapshot"/,
    );
    // A mock of the client, without and with a property for each name.
    const deepMock = new Proxy(() => {}, { get: () => () => {} });
    for (const mock of [{ $transaction() {} }, deepMock]) {
      expect(() => prismaStore(mock as never)).toThrow(
        /such as a mock of the client; .* use memoryStore\(\), and import the limits from a file that/,
      );
    }
    const oracle = Object.assign(
      intercept(database.prisma, async () => {}),
      {
        _activeProvider: "oracle",
      },
    );
    expect(() => prismaStore(oracle)).toThrow(
      /provider must be one of sqlite, postgresql, .*, got "oracle"/,
    );
  });
});
