/** `enabled`: a switch that each call asks, and what calls of before and after it find. */
import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";

const few = { kind: "fixed window", rate: 5, period: HOUR, start: 0 } as const;
const limits = {
  few,
  counted: { ...few, usage: true },
  held: { ...few, holds: true },
  other: { kind: "token bucket", rate: 5, period: HOUR, shards: 4 },
  credits: { kind: "credits" },
} as const;
const ada = { key: "ada" } as const;

async function setUp(open: () => Promise<{ store: RateLimitStore } & AsyncDisposable>) {
  const { store, [Symbol.asyncDispose]: close } = await open();
  const clock = createManualClock(1000 * HOUR);
  const logger = { error: vi.fn(), warn: vi.fn() };
  const switched = { isOn: true };
  const enabled = () => switched.isOn;
  const limiter = createRateLimiter({ store, clock, limits, logger, enabled });
  return {
    store,
    limiter,
    logger,
    switched,
    left: async (name: "few" | "counted" | "held" = "few") => {
      switched.isOn = true;
      return (await limiter.getValue(name, ada)).value;
    },
    [Symbol.asyncDispose]: async () => {
      await limiter.flushUsage();
      await close.call({});
    },
  };
}

describe.each(storesAndRedis)("a switch on %s", (_, open) => {
  it("leaves all rows as they were, and warns once for each time of being off", async () => {
    await using at = await setUp(open);
    const { limiter, logger, switched, left } = at;
    await limiter.limit("few", { ...ada, count: 4 });
    for (let i = 1; i <= 2; i++) {
      switched.isOn = false;
      for (let n = 0; n < 3; n++) {
        expect(await limiter.limit("few", ada)).toMatchObject({ ok: true, disabled: true });
        await limiter.charge("few", { ...ada, count: 3 });
        await limiter.refund("few", ada);
        await limiter.reset("few", ada);
      }
      expect(await left()).toBe(1);
      expect(logger.warn).toHaveBeenCalledTimes(i);
    }
    expect(logger.warn.mock.calls[0]![0]).toContain("switched off by the option enabled");
    expect(await limiter.limit("few", ada)).toEqual({
      ok: true,
      value: 0,
      ts: expect.any(Number) as number,
    });
    expect(await limiter.limit("few", ada)).toMatchObject({ ok: false });
  });

  it("changes nothing by the results of calls that passed it", async () => {
    await using at = await setUp(open);
    const { limiter, switched, left, store } = at;
    await limiter.limit("few", { ...ada, count: 2 });
    switched.isOn = false;
    const one = await limiter.limit("few", { ...ada, count: 3, once: "job" });
    const all = await limiter.limitAll([
      { name: "few", ...ada },
      { name: "other", ...ada },
    ]);
    const first = await limiter.limitFirst(["few", "held"], { ...ada, count: 3 });
    const counted = await limiter.limit("counted", ada);
    const paid = await limiter.limit("credits", { ...ada, count: 7 });
    switched.isOn = true;
    for (const actual of [0, 9]) {
      for (const result of [one, ...all.results, first, counted, paid]) {
        await limiter.settle(result, actual);
      }
    }
    await limiter.refund("few", { ...ada, result: one });
    expect(await left()).toBe(3);
    expect(await left("counted")).toBe(5);
    expect(await store.list!("credits", undefined, 9)).toEqual([]);
    const span = { ...ada, from: 1000 * HOUR, to: 1001 * HOUR };
    const { total } = await limiter.usage("counted", span);
    expect(total).toEqual({ granted: 0, denied: 0, taken: 0, givenBack: 0 });
    // The id was not charged.
    expect(await limiter.limit("few", { ...ada, once: "job" })).not.toHaveProperty("repeated");
  });

  it("keeps what was taken before it was off", async () => {
    await using at = await setUp(open);
    const { limiter, switched, left } = at;
    const hold = { for: MINUTE, then: "keep" } as const;
    await limiter.limit("held", { ...ada, count: 4, once: "job", hold });
    switched.isOn = false;
    const id = { ...ada, once: "job" };
    expect(await limiter.settle("held", id, 1)).toMatchObject({ settled: false, disabled: true });
    switched.isOn = true;
    expect(await limiter.settle("held", id, 1)).toEqual({ settled: true, count: 4, value: 4 });
    expect(await left("held")).toBe(4);
  });
});

describe.each(stores)("a switch around transactions on %s", (_, open) => {
  it("takes nothing in a transaction, whose other work is committed", async () => {
    await using at = await setUp(open);
    const { limiter, switched, left } = at;
    switched.isOn = false;
    await limiter.transaction(async ({ limit, tx }) => {
      expect(await limit("few", { ...ada, count: 5 })).toMatchObject({ disabled: true });
      expect(await limiter.using(tx).limit("few", ada)).toMatchObject({ disabled: true });
      switched.isOn = true;
      expect(await limiter.using(tx).limit("few", ada)).toMatchObject({ ok: true, value: 4 });
    });
    expect(await left()).toBe(4);
  });
});

const memory = async () => ({
  store: memoryStore() as RateLimitStore,
  async [Symbol.asyncDispose]() {},
});

describe("enabled", () => {
  it("is on by default, without a switch", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits, enabled: true });
    expect(await limiter.limit("few", ada)).not.toHaveProperty("disabled");
  });

  it("says at start that the limits are off, to the limiter's logger", () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    createRateLimiter({ store: memoryStore(), limits, enabled: false, logger });
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });

  it("rejects calls where its function answers no boolean, or throws", async () => {
    const answers = [undefined, Promise.resolve(false)];
    for (const answer of answers) {
      const enabled = () => answer as never;
      const limiter = createRateLimiter({ store: memoryStore(), limits, enabled });
      await expect(limiter.limit("few", ada)).rejects.toMatchObject({
        name: "RateLimitConfigError",
        option: "enabled",
      });
    }
    const failure = new Error("no flags");
    const enabled = () => {
      throw failure;
    };
    const limiter = createRateLimiter({ store: memoryStore(), limits, enabled });
    await expect(limiter.check("few", ada)).rejects.toBe(failure);
    await expect(limiter.acquire("few", ada)).rejects.toBe(failure);
  });

  it("says that nothing was paid, also by a first of several limits", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits: { ...limits, exports: { kind: "concurrency", slots: 1 } },
      enabled: false,
      logger: false,
    });
    const paid = {
      ok: true,
      disabled: true,
      paid: [],
      results: [{ ok: true, disabled: true }],
    };
    const first = ["few", "credits"] as const;
    expect(await limiter.limitFirst(first, { ...ada, count: 2 })).toMatchObject(paid);
    const items = [
      { name: "other", ...ada },
      { first, ...ada },
    ] as const;
    const both = [{ ok: true, disabled: true }, paid];
    const all = await limiter.limitAll(items);
    expect(all).toMatchObject({ ok: true, disabled: true, results: both });
    const entered = await limiter.enter("exports", { ...ada, with: items });
    expect(entered).toMatchObject({ ok: true, disabled: true, results: both });
  });

  it("passes a banned caller, and obeys the ban when it is on again", async () => {
    const switched = { isOn: false };
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      overrides: true,
      enabled: () => switched.isOn,
      logger: false,
    });
    await limiter.overrides.set("few", { ...ada, blocked: true });
    expect(await limiter.limit("few", ada)).toMatchObject({ ok: true, disabled: true });
    switched.isOn = true;
    expect(await limiter.limit("few", ada)).toMatchObject({ ok: false });
  });

  it("reads no overrides, nor does a transaction, while it is off", async () => {
    const store = memoryStore();
    const read = vi.fn(store.overrides!.read);
    const switched = { isOn: false };
    const limiter = createRateLimiter({
      store: { ...store, overrides: { ...store.overrides!, read } },
      limits,
      overrides: true,
      enabled: () => switched.isOn,
      logger: false,
    });
    await limiter.limit("few", ada);
    const result = await limiter.transaction(({ limit }) => limit("few", ada));
    expect(result).toMatchObject({ ok: true, disabled: true });
    expect(read).not.toHaveBeenCalled();
    switched.isOn = true;
    await limiter.transaction(({ limit }) => limit("few", ada));
    expect(read).toHaveBeenCalled();
  });

  it("lets no turn of autoPrune be taken while it is off", async () => {
    await using opened = await memory();
    const { store } = opened;
    const clock = createManualClock();
    const switched = { isOn: false };
    const timers = vi.spyOn(globalThis, "setTimeout");
    const prune = vi.fn(store.prune!.bind(store));
    createRateLimiter({
      store: { ...store, prune },
      clock,
      limits,
      autoPrune: { every: 3 * HOUR },
      enabled: () => switched.isOn,
      random: () => 0.5,
      logger: false,
    });
    const turns = () =>
      timers.mock.calls.filter(([, ms = 0]) => ms > HOUR).map(([run]) => run as () => void);
    turns().at(-1)!();
    await vi.waitFor(() => expect(turns()).toHaveLength(2));
    expect(prune).not.toHaveBeenCalled();
    expect(await store.list!("trpc-rate-limit:autoPrune", undefined, 9)).toEqual([]);
    switched.isOn = true;
    turns().at(-1)!();
    await vi.waitFor(() => expect(prune).toHaveBeenCalledTimes(1));
    timers.mockRestore();
  });
});
