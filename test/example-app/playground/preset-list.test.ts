/** The presets of the playground do what their advice says. */
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { expect, it } from "vitest";
import { configOfChoice } from "../../../example-app/playground/choice.js";
import { PRESETS, presetOf } from "../../../example-app/playground/preset-list.js";

const START = Date.UTC(2026, 4, 20);

/** Calls every 10 ms, as the preset does. */
function setUp(name: string) {
  const preset = PRESETS.find((each) => each.name === name)!;
  let now = START;
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { playground: configOfChoice(preset.choice) },
    clock: () => now,
  });
  return {
    pass: (ms: number) => void (now += ms),
    async call(times: number) {
      const waits: (number | undefined)[] = [];
      for (let i = 0; i < times; i++) {
        now += 10;
        const { ok, retryAfter } = await limiter.limit("playground", preset.call);
        waits.push(ok ? undefined : retryAfter);
      }
      return waits;
    },
  };
}

const passed = (waits: (number | undefined)[]) => waits.map((wait) => wait === undefined);
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

it("burst: the full bucket passes at once, then one call every two seconds", async () => {
  const { call, pass } = setUp("Burst");
  expect(passed(await call(11))).toEqual([...times(10, true), false]);
  pass(2000);
  expect(passed(await call(2))).toEqual([true, false]);
  pass(2000);
  expect(passed(await call(2))).toEqual([true, false]);
});

it("window: after a denial, the next window brings all five tokens", async () => {
  const { call, pass } = setUp("Window");
  // A window may start between two calls, so begin with one.
  pass((await call(6)).at(-1)!);
  const waits = await call(6);
  expect(passed(waits)).toEqual([...times(5, true), false]);
  expect(waits.at(-1)).toBeGreaterThan(9_000);
});

it("reserve: calls take tokens that are still to come, four at most", async () => {
  const { call } = setUp("Reserve");
  expect(passed(await call(3))).toEqual([true, true, false]);
});

it("lock-out: a denial closes the bucket for ten seconds", async () => {
  const { call } = setUp("Lock-out");
  const waits = await call(5);
  expect(passed(waits)).toEqual([true, true, true, false, false]);
  // Then it holds nothing, and a token comes in ten more seconds.
  expect(waits.slice(3)).toEqual([20_000, 19_990]);
});

it("month: nothing comes before the next month, which brings all 100", async () => {
  const { call, pass } = setUp("Month");
  expect(passed(await call(101))).toEqual([...times(100, true), false]);
  pass(Date.UTC(2026, 5, 1) - START - 5_000);
  expect(passed(await call(1))).toEqual([false]);
  pass(5_000);
  expect(passed(await call(101))).toEqual([...times(100, true), false]);
});

it("recognises a preset by its numbers and its calls", () => {
  for (const preset of PRESETS) {
    expect(presetOf({ ...preset.choice }, { ...preset.call })).toBe(preset);
    expect(presetOf(preset.choice, { ...preset.call, count: 2 })).toBeUndefined();
    expect(presetOf({ ...preset.choice, rate: 7 }, preset.call)).toBeUndefined();
  }
});
