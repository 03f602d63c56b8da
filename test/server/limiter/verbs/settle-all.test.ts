/** `settle` of an answer of `limitAll`: all of its limits by one call, and all of its holds in one decision. */
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  RateLimitStoreError,
} from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  member: { kind: "token bucket", rate: 100, period: DAY, holds: true, usage: true },
  team: { kind: "token bucket", rate: 100, period: DAY, holds: true },
  requests: { kind: "token bucket", rate: 100, period: DAY },
  plan: { kind: "fixed window", rate: 10, period: DAY, start: 0, holds: true },
  credits: { kind: "credits", holds: true },
} as const;
const key = "user 1|a\\";
const hold = { for: HOUR, then: "keep" } as const;
const items = [
  { name: "member", key, count: 20 },
  { name: "team", key: "team", count: 20 },
  { name: "requests", key },
  { first: ["plan", "credits"], key, count: 20 },
] as const;

describe.each(storesAndRedis)("settle of all limits of a call on %s", (_name, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    await at.limiter.credit("credits", { key, count: 50 });
    const valueOf = async (name: keyof typeof limits, of = key) =>
      (await at.limiter.getValue(name, { key: of })).value;
    const left = async () => ({
      member: await valueOf("member"),
      team: await valueOf("team", "team"),
      requests: await valueOf("requests"),
      plan: await valueOf("plan"),
      credits: await valueOf("credits"),
    });
    return { ...at, left };
  }

  it.each([false, true])("corrects every limit to the use (held: %s)", async (isHeld) => {
    const at = await setUp();
    const options = isHeld ? { once: "a", hold } : {};
    const answer = await at.limiter.limitAll(items, options);
    expect(await at.left()).toEqual({ member: 80, team: 80, requests: 99, plan: 10, credits: 30 });
    const used = { member: 5, team: 30, requests: 1, credits: 5 };
    expect(await at.limiter.settle(answer, used)).toEqual({ settled: true });
    expect(await at.left()).toEqual({ member: 95, team: 70, requests: 99, plan: 10, credits: 45 });
    expect(await at.limiter.holds("member", { key })).toEqual([]);
    // A hold ends once. Other tokens are corrected again.
    expect(await at.limiter.settle(answer, used)).toEqual({ settled: !isHeld });
    expect(await at.left()).toEqual({ member: 95, team: 70, requests: 99, plan: 10, credits: 45 });
  });

  it("takes one number for all limits, and keeps estimates of which no use is known", async () => {
    const at = await setUp();
    const two = items.slice(0, 2);
    const first = await at.limiter.limitAll(two, { once: "a", hold });
    expect(await at.limiter.settle(first, 7)).toEqual({ settled: true });
    const second = await at.limiter.limitAll(two, { once: "b", hold });
    expect(await at.limiter.settle(second, NaN)).toEqual({ settled: false });
    const third = await at.limiter.limitAll(two, { once: "c", hold });
    expect(await at.limiter.settle(third, { team: 1 })).toEqual({ settled: false });
    expect(await at.left()).toMatchObject({ member: 100 - 7 - 20 - 20, team: 100 - 7 - 20 - 1 });
    expect(await at.limiter.holds("member", { key })).toEqual([]);
  });

  it("settles nothing of an answer that repeats an earlier one", async () => {
    const at = await setUp();
    const options = { once: "a", hold };
    await at.limiter.limitAll(items, options);
    const again = await at.peer.limitAll(items, options);
    expect(await at.peer.settle(again, 0)).toEqual({ settled: false });
    expect(await at.left()).toMatchObject({ member: 80, credits: 30 });
    expect(await at.limiter.holds("member", { key })).toHaveLength(1);
  });
});

describe.each(stores)("settle of all limits in a transaction on %s", (_name, open) => {
  it("is rolled back with it", async () => {
    const at = await twoProcesses(open, limits);
    const two = items.slice(0, 2);
    const failing = at.limiter.transaction(async ({ limitAll, settle }) => {
      await settle(await limitAll(two), 1);
      throw new Error("roll back");
    });
    await expect(failing).rejects.toThrow("roll back");
    expect((await at.limiter.getValue("member", { key })).value).toBe(100);
    await at.limiter.transaction(async ({ limitAll, settle }) => {
      await settle(await limitAll(two, { once: "a", hold }), 1);
    });
    expect((await at.limiter.getValue("member", { key })).value).toBe(99);
  });
});

describe("settle of an answer of limitAll", () => {
  it("ends all holds or none, whenever the store fails", async () => {
    const store = memoryStore();
    let fails = false;
    let writes = 0;
    const limiter = createRateLimiter({
      store: {
        ...store,
        submit: undefined as never,
        apply(decisions) {
          if (fails) return Promise.reject(new RateLimitStoreError("down"));
          writes += decisions.filter(({ readOnly }) => !readOnly).length;
          return store.apply(decisions);
        },
      },
      limits,
      sleep: () => Promise.resolve(),
      logger: false,
    });
    const answer = await limiter.limitAll(items.slice(0, 2), { once: "a", hold });
    fails = true;
    await expect(limiter.settle(answer, 1)).rejects.toThrow("down");
    fails = false;
    writes = 0;
    expect(await limiter.settle(answer, 1)).toEqual({ settled: true });
    expect(writes).toBe(1);
  });

  it("refuses what is no answer of a granted call, and names of other limits", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits, clock: () => 0 });
    const answer = await limiter.limitAll(items.slice(0, 2));
    const all = { name: "requests", key, count: 100 } as const;
    expect((await limiter.limitAll([all])).ok).toBe(true);
    await expect(limiter.settle({ ...answer, results: [] }, 1)).resolves.toEqual({ settled: true });
    for (const [of, actual, message] of [
      [await limiter.limitAll([{ name: "requests", key }]), 1, "a denied call took no tokens"],
      [JSON.parse(JSON.stringify(answer)), 1, "and not a copy"],
      [answer, { plan: 1 }, '"plan" is none of the limits that were charged'],
      [answer, { member: -1 }, "count must be a finite number of at least 0, got -1"],
      [answer, "5", 'settle() needs an object of counts by name: got "5"'],
    ] as const) {
      await expect(limiter.settle(of as typeof answer, actual as number)).rejects.toThrow(message);
    }
    await limiter.credit("credits", { key, count: 50 });
    const paid = await limiter.limitAll([{ first: ["plan", "credits"], key, count: 5 }]);
    const twice = limiter.settle(paid, { plan: 1, credits: 1 });
    await expect(twice).rejects.toThrow('"plan" and "credits" pay for one count');
    expect((await limiter.getValue("member", { key })).value).toBe(80);
  });
});
