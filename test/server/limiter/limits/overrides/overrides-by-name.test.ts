/** Several overrides of one key: none destroys another, and each ends by itself. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../../server/index.js";
import { createManualClock } from "../../../../../testing/index.js";
import { createRandom } from "../../../../simulation/random.js";
import { storesAndRedis } from "../../../../support/stores.js";

const START = Date.UTC(2030, 0, 1);
const bucket = { kind: "token bucket", rate: 10, period: MINUTE } as const;
const limits = {
  send: bucket,
  window: { kind: "fixed window", rate: 10, period: HOUR, start: 0 },
  shards: { ...bucket, rate: 40, shards: 4 },
  points: { kind: "credits" },
} as const;
const plans = ["free", "pro"] as const;
const ada = { key: "ada" };

function create() {
  const clock = createManualClock(START);
  return {
    clock,
    limiter: createRateLimiter({ store: memoryStore(), clock, limits, overrides: true }),
  };
}

describe.each(storesAndRedis)("the overrides of a key on %s", (_, open) => {
  it("lie over each other, and what lay beneath is there again when one ends", async () => {
    await using opened = await open({ isNew: true });
    const clock = createManualClock(START);
    const given = { clock, limits, overrides: true } as const;
    const limiter = createRateLimiter({ ...given, store: opened.store });
    const other = createRateLimiter({ ...given, store: opened.store, overridesFor: 0 });
    const { overrides } = limiter;
    const capacityOf = async () => {
      const { config } = await other.getValue("send", ada);
      return config.capacity ?? config.rate;
    };
    const passes = async () => (await other.check("send", ada)).ok;

    await overrides.set("send", { ...ada, times: 2, until: START + DAY });
    await overrides.set("send", { ...ada, add: 100, until: START + 2 * HOUR });
    await overrides.set("send", { ...ada, blocked: true, until: START + HOUR });
    expect(await passes()).toBe(false);
    expect(await overrides.get("send", ada)).toMatchObject({ blocked: true });
    expect((await overrides.list("send")).length).toBe(3);
    // An exemption that comes later lies over the ban, and beneath it the ban stays.
    await overrides.set("send", { ...ada, unlimited: true, until: START + 10 * MINUTE });
    expect(await passes()).toBe(true);
    clock.set(START + 10 * MINUTE);
    expect(await passes()).toBe(false);
    clock.set(START + HOUR);
    expect(await passes()).toBe(true);
    expect(await capacityOf()).toBe(120);
    clock.set(START + 2 * HOUR);
    expect(await capacityOf()).toBe(20);
    clock.set(START + DAY);
    expect(await capacityOf()).toBe(10);
    expect(await overrides.list()).toEqual([]);
  });

  it("are ended by kind, or all of them, in a transaction as well", async () => {
    await using opened = await open({ isNew: true });
    const limiter = createRateLimiter({ store: opened.store, limits, overrides: true });
    const { overrides } = limiter;
    await overrides.set("send", { ...ada, times: 2 });
    await overrides.set("send", { ...ada, blocked: true });
    await overrides.set("send", { blocked: true });
    expect(await overrides.clear("send", { ...ada, only: "add" })).toBe(false);
    expect(await overrides.clear("send", { ...ada, only: "blocked" })).toBe(true);
    const kinds = (await overrides.list("send")).map(({ key, times }) => ({ key, times }));
    expect(kinds.toSorted((a, b) => (a.times ?? 0) - (b.times ?? 0))).toEqual([
      { key: undefined, times: undefined },
      { key: "ada", times: 2 },
    ]);
    await overrides.set("send", { ...ada, add: 5 });
    expect(await overrides.clear("send", ada)).toBe(true);
    expect(await overrides.clear("send", ada)).toBe(false);
    expect(await overrides.list("send")).toMatchObject([{ blocked: true }]);
  });
});

describe("a top-up", () => {
  it("is there at once, at the same rate, and lapses", async () => {
    const { clock, limiter } = create();
    for (const name of ["send", "window", "shards"] as const) {
      const own = (await limiter.getValue(name, ada)).value;
      await limiter.charge(name, { ...ada, count: own });
      await limiter.overrides.set(name, { ...ada, add: 100, until: clock() + HOUR });
      expect((await limiter.getValue(name, ada)).value).toBe(100);
      expect(await limiter.limit(name, { ...ada, count: 20 })).toMatchObject({ ok: true });
      clock.advance(HOUR);
      // What is left of it is gone, and what was used of it is no debt.
      const left = (await limiter.getValue(name, ada)).value;
      expect(left).toBe(own);
      clock.advance(HOUR);
    }
  });

  it("is added to those of all keys, to what a plan has, and stays where the plan changes", async () => {
    const clock = createManualClock(START);
    const limiter = createRateLimiter({
      store: memoryStore(),
      clock,
      plans,
      limits: {
        pictures: { kind: "fixed window", period: DAY, start: 0, plans: { free: 5, pro: 50 } },
      },
      overrides: true,
    });
    const left = async (plan: "free" | "pro") =>
      (await limiter.getValue("pictures", { ...ada, plan })).value;
    await limiter.overrides.set("pictures", { ...ada, add: 7 });
    expect([await left("free"), await left("pro")]).toEqual([12, 57]);
    await limiter.overrides.set("pictures", { add: 1 });
    await limiter.overrides.set("pictures", { ...ada, plan: "pro" });
    expect([await left("free"), await left("pro")]).toEqual([58, 58]);
    await limiter.overrides.set("pictures", { ...ada, times: 2 });
    expect(await left("free")).toBe(108);
  });

  it("gives its tokens once to a caller who leaves nothing unused", async () => {
    const random = createRandom(7);
    for (const name of ["send", "window"] as const) {
      const { clock, limiter } = create();
      const taken = { with: 0, without: 0 };
      await limiter.overrides.set(name, { key: "with", add: 25 });
      for (let step = 0; step < 400; step++) {
        for (const key of ["with", "without"] as const) {
          while ((await limiter.limit(name, { key })).ok) taken[key]++;
        }
        expect(taken.with - taken.without).toBe(25);
        // Whole tokens, and fewer than fill a bucket.
        clock.advance(random.below(10) * (MINUTE / 10));
      }
    }
  });

  it("gives no more than its tokens beyond the rate to a caller who comes now and then", async () => {
    const random = createRandom(8);
    const { clock, limiter } = create();
    await limiter.overrides.set("send", { ...ada, add: 25 });
    let taken = 0;
    for (let step = 0; step < 400; step++) {
      const most = random.below(60);
      for (let call = 0; call < most && (await limiter.limit("send", ada)).ok; call++) taken++;
      expect(taken).toBeLessThanOrEqual(10 + 25 + ((clock() - START) / MINUTE) * 10);
      clock.advance(random.below(5 * MINUTE));
    }
  });

  it("does not lift a ban of all keys, as terms of the key's own do", async () => {
    const { limiter } = create();
    await limiter.overrides.set("send", { blocked: true });
    await limiter.overrides.set("send", { ...ada, add: 5 });
    expect(await limiter.limit("send", ada)).toMatchObject({ ok: false });
    await limiter.overrides.set("send", { ...ada, times: 2 });
    expect(await limiter.limit("send", ada)).toMatchObject({ ok: true, value: 24 });
  });

  it("keeps the row of its key from being pruned while the key uses it", async () => {
    const { clock, limiter } = create();
    await limiter.overrides.set("send", { ...ada, add: 100 });
    await limiter.limit("send", { ...ada, count: 110 });
    clock.advance(5 * MINUTE);
    await limiter.prune();
    expect((await limiter.getValue("send", ada)).value).toBe(50);
  });
});

describe("a row of an earlier version, which has one of any kind", () => {
  it("counts beneath what is set now, and is ended with its kind", async () => {
    const store = memoryStore();
    const limiter = createRateLimiter({ store, limits, overrides: true, overridesFor: 0 });
    const row = { name: "send", key: "ada", rule: '{"blocked":true}', until: 8e15, setAt: 1 };
    await store.overrides!.write(row);
    expect(await limiter.limit("send", ada)).toMatchObject({ ok: false });
    await limiter.overrides.set("send", { ...ada, times: 2 });
    expect(await limiter.limit("send", ada)).toMatchObject({ ok: false });
    expect(await limiter.overrides.clear("send", { ...ada, only: "times" })).toBe(true);
    expect(await limiter.overrides.clear("send", { ...ada, only: "blocked" })).toBe(true);
    expect(await limiter.limit("send", ada)).toMatchObject({ ok: true });
  });
});
