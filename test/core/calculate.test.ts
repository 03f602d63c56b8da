import { afterEach, describe, expect, it, vi } from "vitest";
import { calculateRateLimit, type RateLimitState } from "../../core/calculate.js";
import type { PeriodicConfig } from "../../core/config.js";
import { DAY, HOUR } from "../../core/durations.js";

/** Noon, and a multiple of every period below. */
const T = Date.UTC(2030, 0, 1, 12);
const YEAR = 365 * DAY;

/**
 * A take of `count` tokens at `ms`: the value and `ts` then, and the wait if there are not enough.
 */
type Step = [ms: number, count: number, value: number, ts: number, retryAfter?: number];

/**
 * Takes the steps on one row, with times relative to T. A step without enough tokens writes
 * nothing.
 */
function run(config: PeriodicConfig, steps: Step[], row: RateLimitState | null = null): void {
  let state = row && { value: row.value, ts: T + row.ts };
  for (const [ms, count, value, ts, retryAfter] of steps) {
    const after = calculateRateLimit(state, config, T + ms, count);
    const seen = { ...after, ts: after.ts - T };
    expect(seen, `at ${ms} ms`).toMatchObject({ value: expect.closeTo(value, 9), ts, retryAfter });
    if (retryAfter === undefined) state = { value: after.value, ts: after.ts };
  }
}

/** One token a second. */
const bucket: PeriodicConfig = { kind: "token bucket", rate: 10, period: 10_000 };
/** Four tokens every ten seconds. */
const window: PeriodicConfig = { kind: "fixed window", rate: 4, period: 10_000, start: 0 };

describe("a token bucket", () => {
  it("starts full and refills continuously, fractions included", () => {
    run(bucket, [
      [0, 4, 6, 0],
      [0, 6, 0, 0],
      [0, 1, -1, 0, 1000],
      [250, 1, -0.75, 250, 750],
      [999, 1, -0.001, 999, 1],
      [1000, 1, 0, 1000],
      [1500, 0.5, 0, 1500],
      [1750, 0, 0.25, 1750],
      [60_000, 0, 10, 60_000],
    ]);
  });

  it("rounds the wait up to whole ms", () => {
    run({ kind: "token bucket", rate: 1 / 3, period: 1000, capacity: 1 }, [
      [0, 1, 0, 0],
      [0, 0.001, -0.001, 0, 3],
      [0, 0.0011, -0.0011, 0, 4],
      [0, 1, -1, 0, 3000],
    ]);
  });

  it.each<[title: string, capacity: number, steps: Step[]]>([
    ["above the rate, holds more than a period's tokens", 25, [[30_000, 0, 25, 30_000]]],
    ["below the rate, holds no more than that", 2, [[10_000, 0, 2, 10_000]]],
    ["below the rate, refills as fast", 2, [[500, 1, -0.5, 500, 500]]],
    ["of 0, owes every token", 0, [[500, 1, -1, 500, 1000]]],
  ])("with a capacity %s", (_title, capacity, steps) => {
    run({ ...bucket, capacity }, steps, { value: 0, ts: 0 });
  });

  it("neither refills nor drains when the clock is behind, and gives a longer wait", () => {
    run(
      bucket,
      [
        [-5000, 0, 3, 0],
        [-5000, 4, -1, 0, 6000],
        [-YEAR, 4, -1, 0, YEAR + 1000],
        [-5000, 2, 1, 0],
        [-1, 2, -1, 0, 1001],
        [0, 2, -1, 0, 1000],
        [1000, 2, 0, 1000],
      ],
      { value: 3, ts: 0 },
    );
  });

  it("is full and not more after years", () => {
    run(bucket, [[0, 10, 0, 0]], { value: -3, ts: -T });
    run({ kind: "token bucket", rate: 1, period: 10 * YEAR }, [
      [0, 1, 0, 0],
      [5 * YEAR, 1, -0.5, 5 * YEAR, 5 * YEAR],
      [10 * YEAR, 1, 0, 10 * YEAR],
    ]);
  });

  it("waits until the debt is repaid for a count above its capacity", () => {
    run({ ...bucket, capacity: 3 }, [[0, 5, -2, 0, 2000]]);
    run({ ...bucket, capacity: 3 }, [[0, 5, -4, 0, 4000]], { value: 1, ts: 0 });
  });

  it("has no windows", () => {
    expect(calculateRateLimit(null, bucket, T).windowStart).toBeUndefined();
  });
});

describe("a fixed window", () => {
  it("starts full and refills at once when the next window starts", () => {
    run(window, [
      [2000, 3, 1, 0],
      [2000, 1.5, -0.5, 0, 8000],
      [9999, 2, -1, 0, 1],
      [10_000, 2, 2, 10_000],
      [19_999, 2, 0, 10_000],
      [25_000, 0, 4, 20_000],
    ]);
  });

  it.each<[title: string, capacity: number, steps: Step[]]>([
    [
      "above the rate, holds the tokens of several windows",
      7,
      [
        [10_000, 0, 4, 10_000],
        [20_000, 0, 7, 20_000],
      ],
    ],
    ["above the rate, waits for several windows", 7, [[1000, 7, -7, 0, 19_000]]],
    ["below the rate, holds no more than that", 2, [[10_000, 0, 2, 10_000]]],
    ["of 0, owes every token", 0, [[1000, 1, -1, 0, 9000]]],
  ])("with a capacity %s", (_title, capacity, steps) => {
    run({ ...window, capacity }, steps, { value: 0, ts: 0 });
  });

  it("neither refills nor drains when the clock is behind, and gives a longer wait", () => {
    run(
      window,
      [
        [-5000, 0, 3, 0],
        [-5000, 4, -1, 0, 15_000],
        [-YEAR, 4, -1, 0, YEAR + 10_000],
        [-5000, 2, 1, 0],
        [-1, 2, -1, 0, 10_001],
        [10_000, 2, 2, 10_000],
      ],
      { value: 3, ts: 0 },
    );
  });

  it("is full and not more after years, and its windows stay aligned", () => {
    run(window, [[3 * YEAR + 13_000, 4, 0, 3 * YEAR + 10_000]], { value: -3, ts: 0 });
    run(window, [[3 * YEAR + 13_000, 4, 0, 3 * YEAR + 3001]], { value: -3, ts: -6999 });
  });

  it("waits until the debt is repaid for a count above its capacity", () => {
    run(window, [[2000, 10, -6, 0, 18_000]]);
    run(window, [[2000, 10, -9, 0, 28_000]], { value: 1, ts: 0 });
  });

  it("starts its daily windows at midnight UTC with start 0", () => {
    const daily: PeriodicConfig = { kind: "fixed window", rate: 5, period: DAY, start: 0 };
    const midnight = Date.UTC(2030, 0, 1);
    const expected = { value: -1, ts: midnight, retryAfter: 12 * HOUR, windowStart: 0 };
    expect(calculateRateLimit(null, daily, T, 6)).toEqual(expected);
    expect(calculateRateLimit({ value: 5, ts: midnight }, daily, T, 6)).toEqual({
      ...expected,
      windowStart: midnight,
    });
  });

  it.each([
    ["in the past", T - 24_000, -4000],
    ["in the future", T + 26_000, -4000],
    ["just now", T, 0],
    ["before 1970", -T - 4000, -4000],
  ])("counts its windows from a start %s", (_title, start, ts) => {
    const after = calculateRateLimit(null, { ...window, start }, T, 5);
    expect(after).toEqual({
      value: -1,
      ts: T + ts,
      retryAfter: 10_000 + ts,
      windowStart: start,
    });
  });

  it("keeps the windows of its row after start has changed", () => {
    const after = calculateRateLimit({ value: 0, ts: T - 13_000 }, { ...window, start: 0 }, T, 5);
    expect(after).toEqual({ value: -1, ts: T - 3000, retryAfter: 7000, windowStart: T - 13_000 });
  });

  it("has the same window every time without a start and without a row", () => {
    const { start: _, ...phaseless } = { ...window, kind: "fixed window" as const };
    const { ts, windowStart } = calculateRateLimit(null, phaseless, T + 1);
    expect(ts).toBeLessThanOrEqual(T + 1);
    expect(ts).toBeGreaterThan(T + 1 - window.period);
    expect(windowStart).toBe(ts);
    expect(calculateRateLimit(null, phaseless, T + 1).ts).toBe(ts);
  });
});

describe.each([bucket, window])("a $kind", (config) => {
  it("is full where a state of a larger config has more tokens than it holds", () => {
    const most = config.rate;
    expect(calculateRateLimit({ value: 50, ts: T }, config, T, 3)).toMatchObject({
      value: most - 3,
      retryAfter: undefined,
    });
  });

  afterEach(() => vi.useRealTimers());

  it("uses the present time and takes nothing by default", () => {
    vi.useFakeTimers({ now: T + 10_000 });
    const row = { value: 1, ts: T };
    expect(calculateRateLimit(row, config)).toEqual(calculateRateLimit(row, config, T + 10_000, 0));
  });

  it("does not change the row that it receives", () => {
    const row = Object.freeze({ value: 1, ts: T });
    expect(() => calculateRateLimit(row, config, T + 10_000, 1)).not.toThrow();
  });
});
