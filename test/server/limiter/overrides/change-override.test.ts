/** What is left moves with the capacity, when an override is set, replaced and cleared. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const limits = {
  pictures: free,
  calls: { kind: "token bucket", rate: 40, period: MINUTE, shards: 4 },
  credits: { kind: "credits" },
} as const;
const ada = { key: "ada" } as const;
const options = { limits, overrides: true, overridesFor: 0 } as const;

async function opened(open: (typeof stores)[number][1]) {
  const { store, peer, [Symbol.asyncDispose]: close } = await open();
  const clock = createManualClock(20_000 * DAY + 10 * HOUR);
  const make = (of: typeof store) => createRateLimiter({ store: of, clock, ...options });
  const limiter = make(store);
  return {
    clock,
    limiter,
    other: make(peer),
    left: async (key = "ada") => (await limiter.getValue("pictures", { key })).value,
    [Symbol.asyncDispose]: close,
  };
}

describe.each(storesAndRedis)("an override on %s", (_, open) => {
  const setUp = () => opened(open);

  it("gives the difference at once, and takes it away again", async () => {
    await using at = await setUp();
    await at.limiter.limit("pictures", { ...ada, count: 5 });
    await at.limiter.overrides.set("pictures", { ...ada, config: { ...free, rate: 50 } });
    expect(await at.left()).toBe(45);
    expect(await at.other.limit("pictures", { ...ada, count: 15 })).toMatchObject({ value: 30 });
    await at.other.overrides.set("pictures", { ...ada, times: 2 });
    expect(await at.left()).toBe(-10);
    await at.limiter.overrides.set("pictures", { ...ada, times: 10 });
    expect(await at.left()).toBe(30);
    expect(await at.limiter.overrides.clear("pictures", ada)).toBe(true);
    expect(await at.left()).toBe(-15);
    expect(await at.limiter.overrides.clear("pictures", ada)).toBe(false);
    expect(await at.other.limit("pictures", ada)).toMatchObject({ ok: false });
  });

  it("moves the level of the shared bucket, where it is for all keys", async () => {
    await using at = await setUp();
    await at.limiter.limit("pictures", { count: 5 });
    await at.limiter.limit("pictures", { ...ada, count: 5 });
    await at.limiter.overrides.set("pictures", { times: 2 });
    expect((await at.limiter.getValue("pictures")).value).toBe(5);
    // There may be any number of other keys.
    expect(await at.left()).toBe(0);
    // What a key has so many times, it has of the override of all keys.
    await at.limiter.overrides.set("pictures", { ...ada, times: 3 });
    expect(await at.left()).toBe(20);
  });

  it("moves all shards", async () => {
    await using at = await setUp();
    await at.limiter.limit("calls", { ...ada, count: 15 });
    await at.limiter.overrides.set("calls", { ...ada, times: 2 });
    expect((await at.other.getValue("calls", ada)).value).toBe(65);
  });
});

it.each(stores)("moves once, however often an override is set, on %s", async (_, open) => {
  await using at = await opened(open);
  const set = (limiter: typeof at.limiter, times: number) =>
    limiter.overrides.set("pictures", { ...ada, times });
  await at.limiter.limit("pictures", { ...ada, count: 5 });
  await set(at.limiter, 3);
  await set(at.other, 3);
  expect(await at.left()).toBe(10);
  await Promise.all([set(at.limiter, 4), set(at.other, 4), set(at.limiter, 5), set(at.other, 6)]);
  const { times } = (await at.other.overrides.get("pictures", ada))!;
  await at.other.overrides.set("pictures", { ...ada, times: 10 });
  expect(times).toBeGreaterThan(3);
  expect((await at.other.getValue("pictures", ada)).value).toBe(45);
});

describe("an override", () => {
  const setUp = () => {
    const clock = createManualClock(20_000 * DAY);
    const limiter = createRateLimiter({ store: memoryStore(), clock, ...options });
    return { clock, limiter };
  };
  const left = async ({ limiter }: ReturnType<typeof setUp>) =>
    (await limiter.getValue("pictures", ada)).value;

  it("that bans or exempts moves nothing, and nothing moves beneath it", async () => {
    const at = setUp();
    const { overrides, limit } = at.limiter;
    await limit("pictures", { ...ada, count: 2 });
    for (const rule of [{ blocked: true }, { unlimited: true }] as const) {
      await overrides.set("pictures", { ...ada, ...rule });
      await overrides.clear("pictures", ada);
      expect(await left(at)).toBe(3);
    }
    await overrides.set("pictures", { ...ada, blocked: true });
    await overrides.set("pictures", { ...ada, times: 3 });
    expect(await left(at)).toBe(13);
  });

  it("that ends by itself takes what is above the capacity", async () => {
    const at = setUp();
    await at.limiter.limit("pictures", { ...ada, count: 5 });
    const until = at.clock() + HOUR;
    await at.limiter.overrides.set("pictures", { ...ada, times: 3, until });
    expect(await left(at)).toBe(10);
    at.clock.advance(HOUR);
    expect(await left(at)).toBe(5);
  });

  it("leaves a balance of credits as it is", async () => {
    const at = setUp();
    await at.limiter.credit("credits", { ...ada, count: 7 });
    const config = { kind: "credits", capacity: 10 } as never;
    await at.limiter.overrides.set("credits", { ...ada, config });
    expect((await at.limiter.getValue("credits", ada)).value).toBe(7);
  });

  it("is set where no row can move, because a limit and a rule do not go together", async () => {
    const at = setUp();
    await at.limiter.overrides.set("pictures", { config: { ...free, rate: 1e300 } });
    await at.limiter.overrides.set("pictures", { ...ada, times: 1e300 });
    expect(await at.limiter.overrides.get("pictures", ada)).toMatchObject({ times: 1e300 });
  });

  it("does not move what calls with a larger config of their own have left", async () => {
    const at = setUp();
    const pro = { ...free, rate: 50 };
    await at.limiter.limit("pictures", { ...ada, config: pro, count: 20 });
    await at.limiter.overrides.set("pictures", { ...ada, times: 2 });
    const value = await at.limiter.getValue("pictures", { ...ada, config: pro });
    expect(value.value).toBe(30);
  });
});
