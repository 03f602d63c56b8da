/** Events between a denial and the decision that ends lapsed holds. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../../server/index.js";

const limits = {
  tokens: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  other: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
} as const;
const key = "user";
const release = { for: MINUTE, then: "release" } as const;

function setUp(store: RateLimitStore = memoryStore() as RateLimitStore) {
  const clock = createManualClock();
  const changes: string[] = [];
  const limiter = createRateLimiter({ store, clock, limits, rememberDenials: HOUR });
  limiter.onChange((digest) => changes.push(digest));
  return { clock, limiter, store, changes };
}

it("finds a hold that came in the place of another one of its size", async () => {
  const rows = memoryStore() as RateLimitStore;
  let meanwhile: (() => Promise<unknown>) | undefined;
  const { clock, limiter } = setUp({
    apply: (...decisions) => rows.apply(...decisions),
    async list(...page) {
      const found = await rows.list!(...page);
      const run = meanwhile;
      meanwhile = undefined;
      await run?.();
      return found;
    },
  });
  await limiter.limit("tokens", { key, count: 10, once: "lapsed", hold: release });
  await limiter.limit("tokens", { key, count: 10, once: "a", hold: { ...release, for: DAY } });
  clock.advance(MINUTE);
  meanwhile = async () => {
    await limiter.settle("tokens", { key, once: "a" }, 10);
    await limiter.limit("tokens", { key, count: 10, once: "b", hold: release });
  };
  expect(await limiter.limit("tokens", { key, count: 100 })).toMatchObject({ ok: false });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 80, held: 10 });
  clock.advance(MINUTE);
  expect(await limiter.limit("tokens", { key, count: 90 })).toMatchObject({ ok: true });
});

it("leaves holds alone in a store that lists no rows", async () => {
  const rows = memoryStore() as RateLimitStore;
  const { clock, limiter } = setUp({ apply: (...decisions) => rows.apply(...decisions) });
  await limiter.limit("tokens", { key, count: 60, once: "a", hold: release });
  clock.advance(MINUTE);
  expect(await limiter.limit("tokens", { key, count: 60 })).toMatchObject({ ok: false });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 40, held: 60 });
  await limiter.release("tokens", { key, once: "a" });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 100, held: 0 });
});

it("ends what this process remembers of a denial before tokens came back", async () => {
  const { clock, limiter } = setUp();
  await limiter.limit("tokens", { key, count: 60, once: "a", hold: release });
  clock.advance(MINUTE);
  expect(await limiter.limit("tokens", { key, count: 100 })).toMatchObject({ ok: true });
  await limiter.reset("tokens", { key });
  await limiter.limit("tokens", { key, count: 50, once: "b", hold: release });
  await limiter.limit("tokens", { key, count: 50, once: "c" });
  clock.advance(MINUTE);
  expect(await limiter.limit("tokens", { key, count: 60 })).toMatchObject({ value: 50 });
  expect(await limiter.limit("tokens", { key, count: 60 })).toMatchObject({ value: 50 });
});

it("tells that tokens came back, though the call was denied", async () => {
  const { clock, limiter, changes } = setUp();
  await limiter.limit("tokens", { key, count: 60, once: "a", hold: release });
  await limiter.limit("other", { key, count: 90 });
  clock.advance(MINUTE);
  changes.length = 0;
  const items = [
    { name: "tokens", key, count: 10 },
    { name: "other", key, count: 20 },
  ] as const;
  expect(await limiter.limitAll(items)).toMatchObject({ ok: false });
  expect((await limiter.getValue("tokens", { key })).value).toBe(100);
  expect(changes).toHaveLength(1);
});

it("finds lapsed holds inside a transaction, and undoes it with the transaction", async () => {
  const { clock, limiter } = setUp();
  await limiter.limit("tokens", { key, count: 60, once: "a", hold: release });
  clock.advance(MINUTE);
  const undone = limiter.transaction(async (inside) => {
    await inside.limit("tokens", { key, count: 30, once: "b", hold: release });
    expect(await inside.check("tokens", { key, count: 70 })).toMatchObject({ ok: true });
    expect(await inside.limit("tokens", { key, count: 70 })).toMatchObject({ ok: true, value: 0 });
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  const found = await limiter.holds("tokens", { key });
  expect(found).toMatchObject([{ once: "a", count: 60 }]);
});

it("settles no later hold of an id by the result of an earlier call", async () => {
  const { clock, limiter } = setUp();
  const call = { key, count: 60, once: "a", hold: release };
  const first = await limiter.limit("tokens", call);
  await limiter.release("tokens", { key, once: "a" });
  clock.advance(1);
  const second = await limiter.limit("tokens", call);
  await limiter.settle(first, 0);
  await limiter.refund("tokens", { key, count: 60, result: first });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 40, held: 60 });
  await limiter.settle(second, 0);
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 100, held: 0 });
});

it("holds nothing more under an id that is held, in a process with a shorter onceFor", async () => {
  const { clock, limiter, store } = setUp();
  const other = createRateLimiter({ store, clock, limits, onceFor: MINUTE });
  await limiter.limit("tokens", { key, count: 60, once: "a", hold: { ...release, for: HOUR } });
  clock.advance(2 * MINUTE);
  const again = await other.limit("tokens", { key, count: 40, once: "a", hold: release });
  expect(again).toMatchObject({ ok: true, repeated: true });
  await other.prune();
  clock.advance(2 * MINUTE);
  await other.prune();
  expect(await other.charge("tokens", { key, count: 40, once: "a" })).toMatchObject({
    repeated: true,
  });
  expect(await limiter.getValue("tokens", { key })).toMatchObject({ value: 40, held: 60 });
});
