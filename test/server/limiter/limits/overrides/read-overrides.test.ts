/**
 * Many overrides: a process reads only what has changed, and a change reads only the overrides that it
 * concerns.
 */
import type pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import {
  createRateLimiter,
  MINUTE,
  pgStore,
  type RateLimitStore,
} from "../../../../../server/index.js";
import { createPostgres } from "../../../../support/database.js";
import { connectPool } from "../../../../support/open-store.js";
import { stores } from "../../../../support/stores.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
const key = "user";

async function setUpMany(rows: number) {
  const database = await createPostgres();
  const pool = connectPool(database.url, 4);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => pool.end());
  await insert(pool, rows);
  const opened = () => {
    const store = pgStore(pool) as RateLimitStore;
    const table = store.overrides!;
    const pages = vi.spyOn(table, "readPage");
    const whole = vi.spyOn(table, "read");
    const limiter = createRateLimiter({ store, limits, overrides: true, overridesFor: 0 });
    return { limiter, pages, whole };
  };
  return { pool, opened };
}

const insert = (pool: pg.Pool, rows: number) =>
  pool.query(
    `INSERT INTO "RateLimitOverride" SELECT 'few', 'banned ' || i, '{"blocked":true}', 8e15, 1 ` +
      `FROM generate_series(1, ${rows}) AS i`,
  );

describe("a table of 3,000 overrides", () => {
  it("is read whole once, a page at a time, and then as far as it has changed", async () => {
    const { opened } = await setUpMany(3000);
    const [one, other] = [opened(), opened()];
    const isDenied = async (of: string) => !(await one.limiter.check("few", { key: of })).ok;
    expect(await isDenied("banned 3000")).toBe(true);
    expect(await isDenied("banned 1")).toBe(true);
    expect(await isDenied(key)).toBe(false);
    expect(one.pages).toHaveBeenCalledTimes(4);
    await other.limiter.overrides.set("few", { key, blocked: true });
    expect(await isDenied(key)).toBe(true);
    await other.limiter.overrides.set("few", { key, unlimited: true });
    expect(await isDenied(key)).toBe(false);
    expect(one.pages).toHaveBeenCalledTimes(4);
    for (const { whole } of [one, other]) expect(whole).not.toHaveBeenCalled();
    // A row less, which only the number of rows tells.
    await other.limiter.overrides.clear("few", { key: "banned 7" });
    expect(await isDenied("banned 7")).toBe(false);
    expect(await isDenied("banned 8")).toBe(true);
    expect(one.pages).toHaveBeenCalledTimes(8);
  });

  it("is not read by the process that changes one of them, which obeys at once", async () => {
    const { opened } = await setUpMany(3000);
    const { limiter, pages, whole } = opened();
    await limiter.overrides.set("few", { key, blocked: true });
    expect(await limiter.overrides.get("few", { key })).toMatchObject({ blocked: true });
    expect(pages).not.toHaveBeenCalled();
    expect((await limiter.check("few", { key })).ok).toBe(false);
    const before = pages.mock.calls.length;
    expect(await limiter.overrides.clear("few", { key })).toBe(true);
    expect((await limiter.check("few", { key })).ok).toBe(true);
    expect(pages).toHaveBeenCalledTimes(before);
    expect(whole).not.toHaveBeenCalled();
  });

  it("is listed, and changed by twenty callers at once", async () => {
    const { opened } = await setUpMany(3000);
    const { limiter } = opened();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => limiter.overrides.set("few", { key: `${i}`, times: 2 })),
    );
    const found = await limiter.overrides.list("few");
    expect(new Set(found.map(({ key: of }) => of)).size).toBe(3020);
  });

  it("shows what was set by a clock that is behind, and what was inserted by hand", async () => {
    const { pool, opened } = await setUpMany(3000);
    const { limiter } = opened();
    expect((await limiter.check("few", { key })).ok).toBe(true);
    const clock = createManualClock(Date.now() - 24 * 3_600_000);
    const behind = createRateLimiter({
      store: pgStore(pool),
      limits,
      overrides: true,
      clock,
    });
    await behind.overrides.set("few", { key, blocked: true });
    expect((await limiter.check("few", { key })).ok).toBe(false);
  });
});

describe.each(stores)(
  "18 callers of a process who set and clear three overrides, on %s",
  (_, open) => {
    it("all get their turn", async () => {
      const opened = await open({ isNew: true });
      onTestFinished(() => opened[Symbol.asyncDispose]());
      const { overrides } = createRateLimiter({
        store: opened.store,
        limits,
        overrides: true,
        logger: false,
      });
      const callers = Array.from({ length: 18 }, async (_caller, i) => {
        const of = { key: `${i % 3}` };
        for (let round = 0; round < 6; round++) {
          if ((i + round) % 2 === 0) await overrides.set("few", { ...of, times: 2 + round });
          else await overrides.clear("few", of);
        }
      });
      await Promise.all(callers);
      expect((await overrides.list("few")).length).toBeLessThan(4);
    });
  },
);
