/** How long rows stay in Redis, and which of them `list` shows. */
import { beforeEach, describe, expect, it } from "vitest";
import { createRateLimiter, HOUR, MINUTE, SECOND } from "../../../server/index.js";
import { createRedisRows, NO_REDIS, redisUrl } from "../../support/redis-rows.js";

const limits = {
  slow: { kind: "token bucket", rate: 1, period: HOUR, capacity: 10 },
  fast: { kind: "token bucket", rate: 10, period: SECOND },
  daily: { kind: "fixed window", rate: 10, period: 24 * HOUR },
} as const;

function open() {
  const rows = createRedisRows();
  const store = rows.open();
  const limiter = createRateLimiter({ store, limits });
  /** How long the only row stays, ms; `Infinity` for ever. */
  async function staysFor(part = "") {
    const keys = await rows.client.keys(`${rows.prefix}*${part}*`);
    const key = keys.find((each) => !each.includes("\0mark\0"));
    if (key === undefined) return 0;
    const ttl = await rows.client.pttl(key);
    return ttl === -1 ? Infinity : ttl;
  }
  return {
    ...rows,
    store,
    limiter,
    staysFor,
    [Symbol.asyncDispose]: () => rows[Symbol.asyncDispose](),
  };
}

describe.skipIf(redisUrl === undefined)("a row in Redis", () => {
  let opened: ReturnType<typeof open>;
  beforeEach(async () => {
    opened = open();
    return () => opened[Symbol.asyncDispose]();
  });

  it("leaves a minute or two after it is full", async () => {
    const { limiter, staysFor } = opened;
    await limiter.limit("fast", { key: "a" });
    expect(await staysFor("fast")).toBeGreaterThan(MINUTE);
    expect(await staysFor("fast")).toBeLessThan(2 * MINUTE + 2 * SECOND);
    await limiter.limit("slow", { key: "a", count: 3 });
    expect(await staysFor("slow")).toBeGreaterThan(3 * HOUR);
    expect(await staysFor("slow")).toBeLessThan(3 * HOUR + 3 * MINUTE);
  });

  it("stays longer when more is taken, also in calls that need several rows", async () => {
    const { limiter, staysFor } = opened;
    await limiter.limit("slow", { key: "a" });
    await limiter.limit("slow", { key: "a", count: 4 });
    expect(await staysFor("slow")).toBeGreaterThan(5 * HOUR);
    await limiter.limitAll([
      { name: "slow", key: "a", count: 2 },
      { name: "daily", key: "a" },
    ]);
    expect(await staysFor("slow")).toBeGreaterThan(7 * HOUR);
    expect(await staysFor("daily")).toBeGreaterThan(MINUTE);
  });

  it("leaves also where its name is known to one call alone", async () => {
    const { limiter, staysFor } = opened;
    await limiter.limit("fromTable" as string, { key: "a", config: limits.fast });
    expect(await staysFor("fromTable")).toBeGreaterThan(MINUTE);
    expect(await staysFor("fromTable")).toBeLessThan(2 * MINUTE + 2 * SECOND);
  });

  it("stays for the slowest config that it was charged with", async () => {
    const { limiter, staysFor } = opened;
    const slow = { ...limits.slow, rate: 2 };
    await limiter.limit("fast", { key: "a", config: slow });
    await limiter.limit("fast", { key: "a" });
    expect(await staysFor("fast")).toBeGreaterThan(HOUR / 2);
    await limiter.refund("fast", { key: "a" });
    expect(await staysFor("fast")).toBeGreaterThan(HOUR / 2);
    // In one batch, and decided in this process.
    await Promise.all([
      limiter.limitAll([{ name: "fast", key: "b" }]),
      limiter.limitAll([{ name: "fast", key: "b", config: slow }]),
      limiter.limitAll([{ name: "fast", key: "b" }]),
    ]);
    expect(await staysFor("fast\0b")).toBeGreaterThan(HOUR / 2);
  });

  it("stays by the clock of the limiter, if that has one of its own", async () => {
    for (const year of [2020, 2100]) {
      const limiter = createRateLimiter({
        store: opened.store,
        limits,
        clock: () => Date.UTC(year, 0, 1),
      });
      await limiter.limit("slow", { key: `${year}`, count: 2 });
      expect(await opened.staysFor(`\0${year}`)).toBeGreaterThan(2 * HOUR);
      expect(await limiter.getValue("slow", { key: `${year}` })).toMatchObject({ value: 8 });
    }
  });

  it("stays for months, whose windows core knows", async () => {
    const config = { kind: "fixed window", rate: 3, period: "month", start: 0 } as const;
    await opened.limiter.limit("monthly", { key: "a", config });
    const staysFor = await opened.staysFor("monthly");
    expect(staysFor).toBeGreaterThan(MINUTE);
    expect(staysFor).toBeLessThan(31 * 24 * HOUR + 2 * MINUTE);
  });

  it("stays for days of a time zone, and for one more, since its zone may change", async () => {
    const config = {
      kind: "fixed window",
      rate: 3,
      period: "day",
      timeZone: "Asia/Tokyo",
    } as const;
    await opened.limiter.limit("daily", { key: "a", config });
    const staysFor = await opened.staysFor("daily");
    expect(staysFor).toBeGreaterThan(24 * HOUR);
    expect(staysFor).toBeLessThan(51 * HOUR);
  });

  it("is listed and forgotten, whatever its name and key look like", async () => {
    const { store } = opened;
    const odd = ["a*", "a?", "[ab]", "a\\", "{a}", "-", "^a"];
    const config = limits.slow;
    const limiter = createRateLimiter({ store, limits: {} });
    for (const name of odd) for (const key of odd) await limiter.limit(name, { key, config });
    const names: string[] = [];
    for await (const name of store.names!()) names.push(name);
    expect(names.toSorted()).toEqual(odd.toSorted());
    for (const name of odd) {
      const listed = await store.list!(name, undefined, 100);
      expect(listed.map(({ key }) => key)).toEqual(odd.toSorted());
    }
    expect(await limiter.forget("a*")).toBe(odd.length);
    expect(Math.floor((await limiter.getValue("a?", { key: "a?", config })).value)).toBe(9);
  });

  it("is not pruned, because it leaves by itself", async () => {
    await opened.limiter.limit("fast", { key: "a" });
    expect(await opened.limiter.prune()).toBe(0);
  });
});

describe.runIf(redisUrl === undefined)("a row in Redis", () => {
  it("leaves when it is full", ({ skip }) => skip(NO_REDIS));
});
