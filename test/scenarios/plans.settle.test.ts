/** Tokens that calls took by one plan, settled, released and charged by another plan, or without a plan. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, DAY, HOUR } from "../../server/index.js";
import { storesAndRedis } from "../support/stores.js";

const free = { kind: "fixed window", rate: 5, period: DAY, start: 0, holds: true } as const;
const pro = { ...free, rate: 50 } as const;
const limits = {
  pictures: free,
  tokens: { ...free, rate: 3000 },
  calls: { kind: "token bucket", rate: 6, period: DAY, shards: 2 },
} as const;
const eve = { key: "eve" } as const;
const hold = { for: HOUR, then: "release" } as const;

describe.each(storesAndRedis)("a call of a plan on %s", (_, open) => {
  async function setUp() {
    const { store, peer, [Symbol.asyncDispose]: close } = await open();
    const clock = createManualClock(20_000 * DAY);
    const [limiter, other] = [store, peer].map((of) =>
      createRateLimiter({ store: of, limits, clock }),
    ) as [ReturnType<typeof limiterOf>, ReturnType<typeof limiterOf>];
    const left = async (config: typeof free | typeof pro = free) =>
      (await other.getValue("pictures", { ...eve, config: config as typeof free })).value;
    return { limiter, other, left, clock, [Symbol.asyncDispose]: close };
  }

  it("is settled above its estimate from the plan that its key has now", async () => {
    await using at = await setUp();
    const estimated = await at.limiter.limit("pictures", { ...eve, count: 2 });
    expect(await at.left(pro as never)).toBe(48);
    await at.limiter.settle(estimated, 4);
    expect(await at.left(pro as never)).toBe(46);
    // A second correction goes by the first one.
    await at.limiter.settle(estimated, 5);
    expect(await at.left(pro as never)).toBe(45);
    // What is used beyond the capacity of its own plan is a debt, which is the same for every plan.
    await at.limiter.settle(estimated, 6);
    expect([await at.left(), await at.left(pro as never)]).toEqual([-1, -1]);
  });

  it("is settled by the smaller plan, and the larger one gets back what was not used", async () => {
    await using at = await setUp();
    const estimated = await at.limiter.limit("pictures", {
      ...eve,
      count: 40,
      config: pro as never,
    });
    expect(await at.left()).toBe(0);
    await at.limiter.settle(estimated, 1);
    expect([await at.left(), await at.left(pro as never)]).toEqual([4, 49]);
  });

  it("is settled by its id while the plan has changed, to the token", async () => {
    await using at = await setUp();
    const config = pro as never;
    await at.limiter.limit("pictures", { ...eve, count: 40, config, once: "job", hold });
    // By a worker that knows no plan.
    expect(await at.other.settle("pictures", { ...eve, once: "job" }, 1)).toMatchObject({
      settled: true,
      value: 4,
    });
    expect(await at.left(pro as never)).toBe(49);
    await at.limiter.limit("pictures", { ...eve, count: 3, once: "next", hold });
    await at.other.settle("pictures", { ...eve, config, once: "next" }, 20);
    expect(await at.left(pro as never)).toBe(29);
    await at.limiter.limit("pictures", { ...eve, count: 10, config, once: "last", hold });
    await at.other.release("pictures", { ...eve, once: "last" });
    expect(await at.left(pro as never)).toBe(29);
  });

  it("lapses, found by a call of the smaller plan", async () => {
    await using at = await setUp();
    const config = pro as never;
    await at.limiter.limit("pictures", { ...eve, count: 46, config, once: "job", hold });
    expect(await at.other.limit("pictures", eve)).toMatchObject({ ok: false });
    at.clock.advance(HOUR);
    expect(await at.other.limit("pictures", eve)).toMatchObject({ ok: true, value: 4 });
    expect(await at.left(pro as never)).toBe(49);
  });

  it("is charged without a plan, and takes nothing of the larger one away", async () => {
    await using at = await setUp();
    const large = { ...limits.tokens, rate: 900_000 } as never;
    const left = async () => (await at.other.getValue("tokens", { ...eve, config: large })).value;
    await at.limiter.limit("tokens", { ...eve, count: 50_000, config: large });
    await at.limiter.charge("tokens", { ...eve, count: 10 });
    expect(await left()).toBe(849_990);
    await at.limiter.limit("tokens", { ...eve, count: 3000, config: large, once: "call", hold });
    await at.other.settle("tokens", { ...eve, once: "call" }, 1200);
    expect(await left()).toBe(848_790);
  });

  it("is settled over shards", async () => {
    await using at = await setUp();
    const config = { ...limits.calls, rate: 50 } as never;
    const left = async () => (await at.other.getValue("calls", { ...eve, config })).value;
    const estimated = await at.limiter.limit("calls", { ...eve, count: 2 });
    await at.limiter.settle(estimated, 4);
    expect(await left()).toBe(46);
    await at.limiter.settle(estimated, 1);
    expect(await left()).toBe(49);
  });
});

function limiterOf() {
  return createRateLimiter({ store: undefined as never, limits });
}
