/** The tokens that count as use, for every way in which a call is answered. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  RateLimitStoreError,
  type RateLimitStore,
} from "../../../../server/index.js";

const START = Date.UTC(2030, 0, 1);
const window = { kind: "fixed window", rate: 10, period: DAY, usage: true } as const;
const limits = {
  plan: window,
  other: window,
  credits: { kind: "credits", usage: true },
  shadow: { ...window, shadow: true },
  open: { ...window, whenStoreFails: "allow" },
  leased: { ...window, rate: 1000, lease: { ms: 1000 } },
  remembered: { ...window, rememberDenials: 60_000 },
  slow: { kind: "token bucket", rate: 1, period: HOUR, maxReserved: 5, usage: true },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const none = { granted: 0, denied: 0, taken: 0, givenBack: 0 };
const key = "ann";

function setUp() {
  const clock = createManualClock(START);
  const memory = memoryStore() as RateLimitStore;
  const down = { is: false };
  const store: RateLimitStore = {
    ...memory,
    apply: (...args) =>
      down.is ? Promise.reject(new RateLimitStoreError("down")) : memory.apply(...args),
  };
  const options = { store, clock, sleep: clock.sleep, overrides: true, logger: false } as const;
  const limiter = createRateLimiter({ ...options, limits });
  const used = async (name: Exclude<keyof typeof limits, "slots">) =>
    (await limiter.usage(name, { key, from: START, to: START + HOUR })).total;
  return { clock, limiter, used, down };
}

describe("a call counts as granted, with its tokens", () => {
  it("if it is served from a block of this process", async () => {
    const { limiter, used } = setUp();
    for (let i = 0; i < 50; i++) await limiter.limit("leased", { key, count: 2 });
    expect(await used("leased")).toEqual({ ...none, granted: 50, taken: 100 });
    const result = await limiter.limit("leased", { key, count: 5 });
    await limiter.settle(result, 1);
    expect(await used("leased")).toEqual({ ...none, granted: 51, taken: 105, givenBack: 4 });
  });

  it("if a shadow lets it pass, and is corrected by settle and refund", async () => {
    const { limiter, used } = setUp();
    await limiter.limit("shadow", { key, count: 8 });
    const result = await limiter.limit("shadow", { key, count: 9 });
    expect(result).toMatchObject({ ok: true, shadow: { ok: false } });
    expect(await used("shadow")).toEqual({ ...none, granted: 2, taken: 17 });
    await limiter.settle(result, 5);
    expect(await used("shadow")).toEqual({ ...none, granted: 2, taken: 17, givenBack: 4 });
    await limiter.settle(result, 6);
    await limiter.refund("shadow", { key, result, count: 100 });
    await limiter.refund("shadow", { key, result, count: 100 });
    expect(await used("shadow")).toEqual({ ...none, granted: 2, taken: 18, givenBack: 10 });
  });

  it("if an outage lets it pass, and settle corrects it", async () => {
    const { limiter, used, down } = setUp();
    await limiter.limit("open", { key });
    down.is = true;
    const result = await limiter.limit("open", { key, count: 3 });
    await limiter.limit("open", { key, count: 2 });
    expect(result).toMatchObject({ ok: true, storeFailed: true });
    down.is = false;
    expect(await used("open")).toEqual({ ...none, granted: 3, taken: 6 });
    await limiter.settle(result, 4);
    expect(await used("open")).toEqual({ ...none, granted: 3, taken: 10, givenBack: 3 });
  });

  it("if an override exempts its key, and as denied if one blocks it", async () => {
    const { limiter, used } = setUp();
    await limiter.overrides.set("plan", { key, unlimited: true });
    const result = await limiter.limit("plan", { key, count: 8 });
    await limiter.limit("plan", { key, count: 8 });
    await limiter.settle(result, 3);
    await limiter.charge("plan", { key, count: 2 });
    await limiter.overrides.set("plan", { key, blocked: true });
    await limiter.limit("plan", { key });
    const total = { granted: 2, denied: 1, taken: 18, givenBack: 5 };
    expect(await used("plan")).toEqual(total);
  });

  it("of the limits that pay for it, and as denied by those that are asked in vain by a denied call", async () => {
    const { limiter, used } = setUp();
    await limiter.credit("credits", { key, count: 5 });
    await limiter.limitFirst(["plan", "credits"], { key, count: 12, split: true });
    await limiter.limitFirst(["plan", "credits"], { key, count: 2 });
    await limiter.limitFirst(["plan", "credits"], { key, count: 9 });
    expect(await used("plan")).toEqual({ ...none, granted: 1, denied: 1, taken: 10 });
    expect(await used("credits")).toEqual({ ...none, granted: 2, denied: 1, taken: 4 });
  });

  it("with tokens that it reserves, and gives back where its wait is aborted", async () => {
    const { limiter, used, clock } = setUp();
    await limiter.acquire("slow", { key });
    const aborting = new AbortController();
    const waiting = limiter.acquire("slow", { key, count: 1, signal: aborting.signal });
    while (clock.sleepers() === 0) await Promise.resolve();
    aborting.abort();
    await expect(waiting).rejects.toThrow("aborted");
    expect(await used("slow")).toEqual({ ...none, granted: 2, taken: 2, givenBack: 1 });
    await expect(limiter.acquire("slow", { key, count: 1, maxWait: 1 })).rejects.toThrow(/slow/);
    expect(await used("slow")).toMatchObject({ granted: 2, denied: 1 });
  });

  it("if it takes no tokens", async () => {
    const { limiter, used } = setUp();
    await limiter.limit("plan", { key, count: 0 });
    expect(await used("plan")).toEqual({ ...none, granted: 1 });
  });
});

describe("a call counts as denied", () => {
  it("also from memory", async () => {
    const { limiter, used } = setUp();
    await limiter.limit("remembered", { key, count: 10 });
    await limiter.limit("remembered", { key });
    expect(await limiter.limit("remembered", { key })).toMatchObject({ remembered: true });
    expect(await used("remembered")).toEqual({ ...none, granted: 1, denied: 2, taken: 10 });
  });

  it("by those of several limits that deny it, and counts nothing of the others", async () => {
    const { limiter, used } = setUp();
    await limiter.limit("plan", { key, count: 10 });
    await limiter.limit("shadow", { key, count: 10 });
    const names = ["plan", "other", "shadow"] as const;
    const items = names.map((name) => ({ name, key }));
    expect(await limiter.limitAll(items)).toMatchObject({ ok: false });
    expect(await used("plan")).toEqual({ ...none, granted: 1, denied: 1, taken: 10 });
    expect(await used("other")).toEqual(none);
    expect(await used("shadow")).toEqual({ ...none, granted: 1, taken: 10 });
  });
});

describe("nothing is counted", () => {
  it("of a repeated call, a check, credits, and tokens that come back twice", async () => {
    const { limiter, used } = setUp();
    const first = await limiter.limit("plan", { key, count: 4, once: "a" });
    const again = await limiter.limit("plan", { key, count: 4, once: "a" });
    await limiter.settle(again, 0);
    await limiter.refund("plan", { key, result: again, count: 4 });
    await limiter.charge("plan", { key, count: 4, once: "a" });
    await limiter.check("plan", { key, count: 9 });
    await limiter.check("plan", { key, count: 2 });
    await limiter.reset("plan", { key });
    await limiter.credit("credits", { key, count: 100 });
    expect(await used("plan")).toEqual({ ...none, granted: 1, taken: 4 });
    expect(await used("credits")).toEqual(none);
    await limiter.refund("plan", { key, result: first, count: 3 });
    await limiter.refund("plan", { key, result: first, count: 3 });
    expect(await used("plan")).toEqual({ ...none, granted: 1, taken: 4, givenBack: 4 });
  });

  it("of slots, and what is taken with one is", async () => {
    const { limiter, used } = setUp();
    const slot = await limiter.enter("slots", { key, with: [{ name: "plan", key, count: 2 }] });
    expect(slot.ok).toBe(true);
    expect(await used("plan")).toEqual({ ...none, granted: 1, taken: 2 });
    await (slot as { release(): Promise<void> }).release();
  });
});

describe("what comes back", () => {
  it("is what was not used, however much of it was refilled meanwhile", async () => {
    const { limiter, used, clock } = setUp();
    const result = await limiter.limit("plan", { key, count: 10 });
    clock.advance(2 * DAY);
    await limiter.settle(result, 3);
    const { total } = await limiter.usage("plan", { key, from: START, to: START + 3 * DAY });
    expect(total).toEqual({ ...none, granted: 1, taken: 10, givenBack: 7 });
    expect((await used("plan")).givenBack).toBe(0);
  });

  it("is counted of a copy of a result, and of a gift", async () => {
    const { limiter, used } = setUp();
    const result = await limiter.limit("plan", { key, count: 6 });
    await limiter.refund("plan", { key, result: { ...result }, count: 2 });
    await limiter.refund("plan", { key, count: 1 });
    expect(await used("plan")).toEqual({ ...none, granted: 1, taken: 6, givenBack: 3 });
  });

  it("is not counted where the store fails, so that its tokens stay charged", async () => {
    const { limiter, used, down } = setUp();
    const result = await limiter.limit("plan", { key, count: 6 });
    down.is = true;
    await expect(limiter.settle(result, 2)).rejects.toThrow("down");
    down.is = false;
    await limiter.settle(result, 2);
    expect(await used("plan")).toEqual({ ...none, granted: 1, taken: 6 });
    expect((await limiter.getValue("plan", { key })).value).toBe(4);
  });
});
