import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitError,
} from "../../../../server/index.js";

function setUp() {
  const store = memoryStore();
  const limiter = createRateLimiter({
    store,
    clock: () => 0,
    limits: {
      slow: { kind: "token bucket", rate: 5, period: 60 * MINUTE },
      quick: { kind: "token bucket", rate: 5, period: MINUTE },
    },
  });
  return { store, limiter };
}

it("limitAll takes a total from two keys that one of them does not hold", async () => {
  const { limiter } = setUp();
  const items = ["ada", "bob"].map((key) => ({ name: "quick" as const, key, count: 4 }));
  expect(await limiter.limitAll(items)).toMatchObject({ ok: true });
  expect((await limiter.getValue("quick", { key: "bob" })).value).toBe(1);
});

it("limitAll names the limit that denies, not a reservation with a longer wait", async () => {
  const { limiter } = setUp();
  for (const name of ["slow", "quick"] as const) await limiter.limit(name, { count: 5 });
  const denied = await limiter.limitAll([{ name: "slow", reserve: true }, { name: "quick" }]);
  expect(denied).toMatchObject({ ok: false, name: "quick" });
  expect(denied.results[0]).toMatchObject({ ok: true, retryAfter: 12 * MINUTE });
});

it("limitAll throws with the wait of all items of one bucket together", async () => {
  const { limiter } = setUp();
  await limiter.limit("quick", { count: 4 });
  const items = [
    { name: "quick" as const, count: 2 },
    { name: "quick" as const, count: 3 },
  ];
  await expect(limiter.limitAll(items, { throws: true })).rejects.toMatchObject({
    data: { rateLimit: { name: "quick", retryAfter: (4 * MINUTE) / 5, value: 1 } },
  });
});

it("the error of limitAll lists a limit once, with its longest wait, and no reservation", async () => {
  const { limiter } = setUp();
  for (const key of ["ada", "bob"]) await limiter.limit("quick", { key, count: 5 });
  await limiter.limit("slow", { count: 5 });
  const items = [
    { name: "slow" as const, reserve: true },
    { name: "quick" as const, key: "ada" },
    { name: "quick" as const, key: "bob", count: 2 },
    { name: "quick" as const, key: "ada" },
  ];
  await expect(limiter.limitAll(items, { throws: true })).rejects.toMatchObject({
    message: 'Rate limit "quick" exceeded. Try again in 24 seconds',
    data: { rateLimit: { name: "quick", denials: [{ name: "quick", retryAfter: 24_000 }] } },
  });
});

it("the error of limitAll lists no shadow, which denies no call", async () => {
  const { limiter } = setUp();
  const config = { kind: "token bucket", rate: 1, period: 60 * MINUTE, shadow: true } as const;
  const items = [{ name: "shadow", config }, { name: "quick" as const }];
  await limiter.limitAll(items);
  await limiter.limit("quick", { count: 4 });
  await expect(limiter.limitAll(items, { throws: true })).rejects.toMatchObject({
    data: { rateLimit: { name: "quick", denials: [{ name: "quick" }] } },
  });
});

it("the error of a limit on its own has no list", async () => {
  const { limiter } = setUp();
  await limiter.limit("quick", { count: 5 });
  const error: unknown = await limiter.limit("quick", { throws: true }).catch((thrown) => thrown);
  expect(Object.keys((error as RateLimitError).data.rateLimit)).not.toContain("denials");
});

it("a call for no tokens writes nothing, alone or among others", async () => {
  const { store, limiter } = setUp();
  expect(await limiter.limit("quick", { key: "a", count: 0 })).toMatchObject({
    ok: true,
    value: 5,
  });
  const items = [
    { name: "quick" as const, key: "b", count: 0 },
    { name: "quick" as const, key: "c" },
  ];
  expect(await limiter.limitAll(items)).toMatchObject({ ok: true });
  expect((await store.list!("quick", undefined, 9)).map(({ key }) => key)).toEqual(["c"]);
});

it("limitAll has a wait that JSON keeps, also for a debt of a much larger config", async () => {
  const { limiter } = setUp();
  const config = { kind: "token bucket", rate: 1e18, period: MINUTE } as const;
  await limiter.charge("slow", { config, count: 5e18 });
  const denied = await limiter.limitAll([{ name: "slow" }, { name: "quick" }]);
  expect(denied).toMatchObject({ ok: false, retryAfter: 8e15, name: "slow" });
  expect(JSON.parse(JSON.stringify(denied))).toEqual(denied);
});

it("limitAll waits for tokens in place of an id that is forgotten by then", async () => {
  const clock = createManualClock(0);
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: {
      hourly: { kind: "token bucket", rate: 1, period: 60 * MINUTE, onceFor: MINUTE },
      minutely: { kind: "token bucket", rate: 1, period: MINUTE },
    },
  });
  await limiter.limitAll([{ name: "hourly" }], { once: "a" });
  clock.advance(MINUTE / 2);
  await limiter.limit("minutely");
  const both = [{ name: "hourly" }, { name: "minutely" }] as const;
  // The id of the hourly limit lasts for 30 s more, and the minutely one has its token in 60 s.
  const denied = await limiter.limitAll(both, { once: "a" });
  expect(denied).toMatchObject({ ok: false, retryAfter: 59.5 * MINUTE, name: "minutely" });
  clock.advance(59.5 * MINUTE - 1);
  expect((await limiter.limitAll(both, { once: "a" })).ok).toBe(false);
  clock.advance(1);
  expect((await limiter.limitAll(both, { once: "a" })).ok).toBe(true);
});

it("limitAll keeps no id of a caller whom an override exempts, as limit does", async () => {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 0,
    limits: {
      slow: { kind: "token bucket", rate: 5, period: 60 * MINUTE },
      quick: { kind: "token bucket", rate: 5, period: MINUTE },
    },
    overrides: true,
  });
  const items = (["slow", "quick"] as const).map((name) => ({ name, key: "ada" }));
  await limiter.overrides.set("slow", { key: "ada", unlimited: true });
  await limiter.limitAll(items, { once: "a" });
  await limiter.overrides.clear("slow", { key: "ada" });
  const { results } = await limiter.limitAll(items, { once: "a" });
  expect(results.map((result) => result.ok && result.repeated)).toEqual([undefined, true]);
  expect((await limiter.getValue("slow", { key: "ada" })).value).toBe(4);
});
