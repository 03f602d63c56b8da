/** PostgreSQL and `pg` have settings that round doubles. Limits are exact under all of them. */
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  pgStore,
  type RateLimitStore,
} from "../../../../../server/index.js";
import { createPostgres } from "../../../../support/database.js";
import { openStore, type StoreKind } from "../../../../support/open-store.js";

const limits = {
  third: { kind: "token bucket", rate: 1000 / 3, period: DAY, capacity: 100 / 3 },
  window: { kind: "fixed window", rate: 10, period: DAY },
} as const;

/** What each kind of call answers, and what is left then. */
async function callAll(store: RateLimitStore) {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store, limits, clock, overrides: true });
  const some = { key: "a", count: 1 / 3 };
  const third = { name: "third", ...some } as const;
  const answers: unknown[] = [await limiter.limit("third", some)];
  clock.advance(1);
  answers.push(
    await limiter.limit("third", some),
    await limiter.limitAll([third, { name: "window", key: "a", count: 0.1 }]),
    await limiter.limitFirst([third, { name: "window", key: "a" }]),
    await limiter.limit("third", { ...some, once: "id" }),
    await limiter.limit("third", { ...some, once: "id" }),
    await limiter.transaction(({ limit }) => limit("third", some)),
    await Promise.all(["a", "b", "c"].map((key) => limiter.limit("third", { ...some, key }))),
  );
  await limiter.refund("third", { key: "a", count: 1 / 7 });
  await limiter.charge("window", { key: "a", count: 1 / 7 });
  for (const name of ["third", "window"] as const) {
    answers.push(await limiter.getValue(name, { key: "a" }));
  }
  await limiter.overrides.set("window", { key: "b", times: 2, until: clock() + HOUR });
  answers.push(await limiter.overrides.list());
  await limiter.reset("third", { key: "b" });
  answers.push(await limiter.forget("a"), await limiter.getValue("third", { key: "a" }));
  return answers;
}

const KINDS: StoreKind[] = ["pg", "postgresql", "drizzle pg", "drizzle postgres-js", "kysely pg"];

describe.each(KINDS)("a store on PostgreSQL (%s)", (kind) => {
  it.each([0, -15])("is exact in a database with extra_float_digits = %s", async (digits) => {
    await using database = await createPostgres();
    const name = new URL(database.url).pathname.slice(1);
    await database.prisma.$executeRawUnsafe(
      `ALTER DATABASE ${name} SET extra_float_digits = ${digits}`,
    );
    const { store, close } = openStore(kind, database.url);
    onTestFinished(close);
    expect(await callAll(store)).toEqual(await callAll(memoryStore() as RateLimitStore));
  });
});

describe("a store on PostgreSQL", () => {
  it("is exact where pg reads binary results, of which it misreads doubles", async () => {
    await using database = await createPostgres();
    const pool = new pg.Pool({ connectionString: database.url, binary: true } as pg.PoolConfig);
    // The end of the database closes its connections.
    pool.on("error", () => {});
    onTestFinished(() => pool.end());
    expect(await callAll(pgStore(pool) as RateLimitStore)).toEqual(
      await callAll(memoryStore() as RateLimitStore),
    );
  });

  it("goes by the database's clock in a database that rounds doubles to one digit", async () => {
    await using database = await createPostgres();
    const name = new URL(database.url).pathname.slice(1);
    await database.prisma.$executeRawUnsafe(`ALTER DATABASE ${name} SET extra_float_digits = -15`);
    const { store, close } = openStore("pg", database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits });
    await limiter.limit("third", { key: "a" });
    const { ts } = await limiter.getValue("third", { key: "a" });
    // One digit of the time is decades.
    expect(Math.abs(ts - Date.now())).toBeLessThan(HOUR);
  });
});
