/** A change of plan beside calls of several limits, slots, and processes of another version. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, DAY, HOUR } from "../../../server/index.js";
import { stores, storesAndRedis } from "../../support/stores.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0 } as const;
const pro = { ...free, rate: 50 };
const limits = {
  pictures: free,
  calls: { kind: "token bucket", rate: 1000, period: DAY },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const user = { key: "ada" } as const;

async function opened(open: (typeof stores)[number][1]) {
  const { store, peer, [Symbol.asyncDispose]: close } = await open();
  const clock = createManualClock(20_000 * DAY + 10 * HOUR);
  const limiter = createRateLimiter({ store, clock, limits });
  return {
    limiter,
    other: createRateLimiter({ store: peer, clock, limits }),
    /** A process of the next version, in which the limit's own config is another one. */
    next: createRateLimiter({ store: peer, clock, limits: { ...limits, pictures: pro } }),
    left: async () => (await limiter.getValue("pictures", { ...user, config: pro })).value,
    [Symbol.asyncDispose]: close,
  };
}

describe.each(storesAndRedis)("a change of plan on %s", (_, open) => {
  it("is between two calls of limitAll, which take from all limits or from none", async () => {
    await using at = await opened(open);
    await at.limiter.limit("pictures", { ...user, count: 5 });
    const items = [
      { name: "calls", ...user },
      { name: "pictures", ...user, config: pro },
    ] as const;
    let granted = 0;
    const call = async (limiter: typeof at.limiter) => {
      if ((await limiter.limitAll(items)).ok) granted++;
    };
    const calls = (count: number) =>
      Array.from({ length: count }, (__, i) => call(i % 2 ? at.limiter : at.other));
    await Promise.all([...calls(20), at.limiter.changeConfig("pictures", { ...user, to: pro })]);
    await Promise.all(calls(20));
    expect(granted).toBeGreaterThanOrEqual(20);
    expect(await at.left()).toBe(45 - granted);
    expect((await at.other.getValue("calls", user)).value).toBe(1000 - granted);
  });

  it("cuts to the old capacity what a process of the version before is asked for", async () => {
    await using at = await opened(open);
    await at.limiter.limit("pictures", { ...user, count: 5 });
    await at.next.changeConfig("pictures", { ...user, from: free });
    expect(await at.left()).toBe(45);
    expect(await at.next.limit("pictures", user)).toMatchObject({ ok: true, value: 44 });
    // During the deployment: 44 are more than 5, so it has 5.
    expect(await at.limiter.limit("pictures", user)).toMatchObject({ ok: true, value: 4 });
    expect(await at.left()).toBe(4);
    // It knows nothing of what was used by the config of the next version.
    expect(await at.next.changeConfig("pictures", { ...user, from: free })).toEqual({ value: 49 });
  });

  it("leaves alone what the next version was charged before, unless the version before has cut it", async () => {
    await using at = await opened(open);
    await at.next.limit("pictures", { ...user, count: 10 });
    // It holds more than the old plan ever does.
    expect(await at.next.changeConfig("pictures", { ...user, from: free })).toEqual({ value: 40 });
    await at.limiter.limit("pictures", user);
    expect(await at.left()).toBe(4);
    // The 10 are forgotten: 60 in all, where 50 and the difference of the plans are the bound.
    expect(await at.next.changeConfig("pictures", { ...user, from: free })).toEqual({ value: 49 });
  });

  it("grants the larger plan and the difference at most, in versions that are mixed", async () => {
    await using at = await opened(open);
    let granted = 0;
    const call = async (limiter: { limit: typeof at.limiter.limit }) => {
      if ((await limiter.limit("pictures", user)).ok) granted++;
    };
    const calls = (count: number) =>
      Array.from({ length: count }, (__, i) => call(i % 2 ? at.next : at.limiter));
    await Promise.all([...calls(30), at.next.changeConfig("pictures", { ...user, from: free })]);
    await Promise.all(calls(120));
    expect(granted).toBeLessThanOrEqual(50 + 45);
    expect(granted).toBeGreaterThanOrEqual(5);
  });
});

it.each(stores)(
  "leaves a slot held, and the tokens that it was entered with used, on %s",
  async (_, open) => {
    await using at = await opened(open);
    const slot = await at.limiter.enter("slots", {
      ...user,
      with: [{ name: "pictures", ...user, count: 5 }],
    });
    expect(slot.ok).toBe(true);
    await at.limiter.changeConfig("pictures", { ...user, to: pro });
    expect(await at.left()).toBe(45);
    expect(await at.other.enter("slots", user)).toMatchObject({ ok: false });
    if (slot.ok) await slot.release();
    expect(await at.other.enter("slots", user)).toMatchObject({ ok: true });
    expect(await at.left()).toBe(45);
  },
);
