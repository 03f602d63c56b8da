/** The keys that have used the most of a limit, from what all processes have counted. */
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  HOUR,
  lazyStore,
  memoryStore,
  type RateLimitStore,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  send: { kind: "fixed window", rate: 5, period: DAY, usage: true },
  send2: { kind: "fixed window", rate: 5, period: DAY, usage: true },
  told: { kind: "fixed window", rate: 5, period: DAY, usage: { changes: true } },
  plain: { kind: "fixed window", rate: 5, period: DAY },
} as const;
const START = 20_000 * DAY;
const day = { from: START, to: START + DAY };

function open(store: RateLimitStore, options: { enabled?: boolean; flushUsage?: number } = {}) {
  const time = { now: START };
  const limiter = createRateLimiter<typeof limits, unknown>({
    store,
    limits: limits as never,
    clock: () => time.now,
    waitUntil() {},
    logger: false,
    ...options,
  });
  return { time, limiter };
}

/** Stores of each kind, and one without `sums`. */
const all = [
  ...storesAndRedis,
  [
    "a store that cannot sum up",
    async () => {
      const { sums: _, ...store } = memoryStore();
      const same = store as RateLimitStore;
      return { store: same, peer: same, async [Symbol.asyncDispose]() {} };
    },
  ] satisfies (typeof storesAndRedis)[number],
];

describe.each(all)("the keys with the most on %s", (_, openStore) => {
  it("are those of all processes, of a limit and a time, the most first", async () => {
    // Usage may still be written at the end.
    await using opened = await openStore({ isNew: true });
    const here = open(opened.store);
    const there = open(opened.peer);
    // What a bar, a backslash, digits and spaces at the end of a key mean to no database.
    const keys = ["ann", "a|7", "a\\|7", "7", "ann ", "ANN", "ä😀%_"];
    for (const [i, key] of keys.entries()) {
      await here.limiter.limit("send", { key, count: 5 });
      for (let n = 0; n <= i; n++) await there.limiter.limit("send", { key, count: 1 });
    }
    await here.limiter.limit("send", { count: 2 });
    await here.limiter.charge("send", { key: "bob", count: 1000 });
    await here.limiter.limit("send2", { key: "other", count: 3 });
    there.time.now += DAY;
    await there.limiter.limit("send", { key: "tomorrow" });
    await there.limiter.flushUsage();
    const byDenied = await here.limiter.topUsage("send", { ...day, by: "denied" });
    const counted = { granted: 1, taken: 5, givenBack: 0 };
    expect(byDenied.items).toEqual(
      keys.map((key, i) => ({ key, ...counted, denied: i + 1 })).reverse(),
    );
    const total = { granted: 8, denied: 28, taken: 1037, givenBack: 0 };
    expect(byDenied.total).toEqual(total);
    const { items } = await here.limiter.topUsage("send", { ...day, by: "taken", count: 2 });
    expect(items).toMatchObject([{ key: "bob", granted: 0, taken: 1000 }, { taken: 5 }]);
    const withShared = await here.limiter.topUsage("send", { ...day, by: "taken" });
    expect(withShared.items.at(-1)).toEqual({ granted: 1, denied: 0, taken: 2, givenBack: 0 });
    expect(withShared.items).toHaveLength(keys.length + 2);
    const next = { from: START + DAY, to: START + 2 * DAY };
    expect(await here.limiter.topUsage("send", { ...next, by: "taken" })).toMatchObject({
      items: [{ key: "tomorrow" }],
      total: { granted: 1 },
    });
  });

  it("have what decisions count themselves, and what is given back", async () => {
    await using opened = await openStore({ isNew: true });
    const { limiter } = open(opened.store);
    await limiter.limit("told", { key: "ann", count: 3, once: "1" });
    await limiter.limit("told", { key: "bob", count: 1 });
    await limiter.refund("told", { key: "ann", count: 2 });
    const { items } = await limiter.topUsage("told", { ...day, by: "taken" });
    expect(items).toMatchObject([
      { key: "ann", taken: 3, givenBack: 2 },
      { key: "bob", taken: 1 },
    ]);
  });

  it("are none where nothing was counted", async () => {
    await using opened = await openStore();
    const nothing = { granted: 0, denied: 0, taken: 0, givenBack: 0 };
    expect(await open(opened.store).limiter.topUsage("send", { ...day, by: "denied" })).toEqual({
      items: [],
      total: nothing,
    });
  });
});

it("are read while the limits are off, and through a store that opens later", async () => {
  const store = memoryStore();
  const { limiter } = open(store);
  await limiter.limit("send", { key: "ann" });
  await limiter.flushUsage();
  const off = open(
    lazyStore(() => store),
    { enabled: false },
  );
  await off.limiter.limit("send", { key: "bob" });
  const { items } = await off.limiter.topUsage("send", { ...day, by: "taken" });
  expect(items.map(({ key }) => key)).toEqual(["ann"]);
});

it.each([
  ["a limit that counts nothing", "plain", { ...day, by: "taken" }, "usage"],
  ["a bound within a span", "send", { ...day, to: START + 1, by: "taken" }, "to"],
  ["an end before the start", "send", { from: HOUR, to: 0, by: "taken" }, "to"],
  ["another order", "send", { ...day, by: "granted" }, "by"],
  ["a name of a method", "send", { ...day, by: "toString" }, "by"],
  ["no order", "send", day, "by"],
  ["no key", "send", { ...day, by: "taken", count: 0 }, "count"],
  ["too many keys", "send", { ...day, by: "taken", count: 1001 }, "count"],
])("refuses %s", async (_, name, options, option) => {
  const { limiter } = open(memoryStore());
  await expect(limiter.topUsage(name as "send", options as never)).rejects.toMatchObject({
    name: "RateLimitConfigError",
    option,
  });
});
