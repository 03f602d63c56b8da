/**
 * Lapsed holds end before any answer about their bucket, and many of them at once do not delay other
 * calls.
 */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { HOLDS } from "../../../../core/rows/hold.js";
import {
  createRateLimiter,
  DAY,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  large: { kind: "fixed window", rate: 3000, period: "month", start: 0, holds: true },
  huge: { kind: "fixed window", rate: 1e12, period: "month", start: 0, holds: true },
  tokens: { kind: "token bucket", rate: 100, period: DAY, holds: true },
} as const;
const key = "user";
const release = { for: MINUTE, then: "release" } as const;
const keep = { for: MINUTE, then: "keep" } as const;

describe.each(storesAndRedis)("lapsed holds on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  it("are back on pages and in lists, though no call was denied", async () => {
    const at = await setUp();
    for (const user of ["a", "b", "c"]) {
      await at.limiter.limit("quota", { key: user, count: 60, once: "1", hold: release });
      await at.limiter.limit("quota", { key: user, count: 40, once: "2", hold: keep });
    }
    at.clock.advance(MINUTE);
    const back = { value: 60, held: 0 };
    expect(await at.peer.snapshots([{ name: "quota", key: "a" }])).toMatchObject([back]);
    expect(await at.peer.getValue("quota", { key: "b" })).toMatchObject(back);
    expect((await at.peer.list("quota")).items).toMatchObject([back, back, back]);
    expect(await at.peer.settle("quota", { key: "c", once: "2" }, 0)).toMatchObject({
      settled: false,
      reason: "kept",
    });
  });

  it("end all before one call that needs them", async () => {
    const at = await setUp();
    const ids = [...Array(300).keys()].map(String);
    for (const once of ids.slice(0, 60)) {
      await at.limiter.limit("large", { key, count: 50, once, hold: release });
    }
    await Promise.all(
      ids.map((once) => at.limiter.limit("large", { key: "b", count: 10, once, hold: release })),
    );
    at.clock.advance(MINUTE);
    expect(await at.peer.limit("large", { key, count: 3000 })).toMatchObject({
      ok: true,
      value: 0,
    });
    const other = await at.peer.limit("large", { key: "b", count: 3000 });
    expect(other).toMatchObject({ ok: true, value: 0 });
    expect(await at.peer.getValue("large", { key: "b" })).toMatchObject({ held: 0 });
  });

  it("leave nothing of fractions in what is held, and no denied call looks for them", async () => {
    const at = await setUp();
    let looks = 0;
    const { store } = at;
    const counting = {
      ...store,
      list(...of: Parameters<NonNullable<RateLimitStore["list"]>>) {
        looks++;
        return store.list!(...of);
      },
      earliest(...of: Parameters<NonNullable<RateLimitStore["earliest"]>>) {
        looks++;
        return store.earliest!(...of);
      },
    };
    const limiter = createRateLimiter({ store: counting, clock: at.clock, limits });
    const counts = [1e10 / 7, 0.7, 0.9, 1e10 / 91];
    for (const [i, count] of counts.entries()) {
      await limiter.limit("huge", { key, count, once: `${i}`, hold: keep });
    }
    for (const i of [3, 0, 1, 2]) {
      await limiter.settle("huge", { key, once: `${i}` }, counts[i]!);
    }
    expect(await limiter.getValue("huge", { key })).toMatchObject({ held: 0 });
    at.clock.advance(DAY);
    expect(await limiter.limit("huge", { key, count: 1e12 })).toMatchObject({ ok: false });
    expect(looks).toBe(0);
  });
});

it("end 2,500 at once before one call that needs all of them", async () => {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
  for (const once of [...Array(2500).keys()].map(String)) {
    await limiter.limit("large", { key, count: 1, once, hold: release });
  }
  clock.advance(MINUTE);
  expect(await limiter.limit("large", { key, count: 3000 })).toMatchObject({ ok: true, value: 0 });
});

it("are looked for once by all calls that are denied at the same time", async () => {
  const clock = createManualClock();
  const rows = memoryStore() as RateLimitStore;
  const looks: string[] = [];
  const store: RateLimitStore = {
    apply: (...of) => rows.apply(...of),
    async earliest(...of) {
      looks.push(of[0]);
      await new Promise((resolve) => setImmediate(resolve));
      return rows.earliest!(...of);
    },
  };
  const limiter = createRateLimiter({ store, clock, limits });
  const ids = [...Array(50).keys()].map(String);
  for (const once of ids) {
    await limiter.limit("quota", { key, count: 1, once, hold: { ...release, for: DAY } });
  }
  await limiter.limit("quota", { key, count: 50, once: "short", hold: release });
  const deny = () => limiter.limit("quota", { key, count: 60 });
  const all = () => Promise.all(Array.from({ length: 100 }, deny));
  expect((await all()).every(({ ok, retryAfter }) => !ok && retryAfter === DAY)).toBe(true);
  expect(looks).toEqual([`${HOLDS.prefix}quota`]);
  clock.advance(MINUTE);
  expect((await all()).filter(({ ok }) => ok)).toHaveLength(0);
  // One ends what has lapsed, and one looks at what lapses next.
  expect(looks).toHaveLength(3);
  await all();
  expect(looks).toHaveLength(3);
});
