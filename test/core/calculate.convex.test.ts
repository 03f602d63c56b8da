/** For usual input the algebra gives the results of Convex's function of the same name. */
import { calculateRateLimit as convex } from "@convex-dev/rate-limiter";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculateRateLimit, type RateLimitState } from "../../core/calculate.js";
import { capacityOf, MAX_WAIT, type PeriodicConfig } from "../../core/config.js";
import { DAY, HOUR } from "../../core/durations.js";
import { anyConfig, anyNow, between } from "./arbitraries.js";
import { cases } from "../support/cases.js";

interface Input {
  existing: RateLimitState | null;
  config: PeriodicConfig;
  now: number;
  count: number;
}

/** Rows that are not from the future. Without a row, windows that have started. */
const anyInput: fc.Arbitrary<Input> = fc.tuple(anyConfig, anyNow).chain(([config, now]) => {
  const { period, rate } = config;
  const capacity = capacityOf(config);
  const ago = fc.oneof(
    fc.constantFrom(0, period),
    fc.integer({ min: 0, max: 3 * period }),
    fc.integer({ min: 0, max: Math.floor(now) }),
  );
  const row = fc.record({
    value: fc.oneof(fc.constantFrom(0, capacity), between(-5 * rate, capacity)),
    ts: ago.map((ms) => Math.floor(now) - ms),
  });
  const comparable = config.kind === "token bucket" || (config.start ?? Infinity) <= now;
  return fc.record({
    config: fc.constant(config),
    existing: comparable ? fc.option(row, { freq: 4 }) : row,
    now: fc.constant(now),
    count: fc.oneof(fc.constantFrom(0, 1, rate, capacity), between(0, capacity + 2 * rate)),
  });
});

/** The largest rounding error of sums of these numbers. */
const noiseOf = ({ existing, config, count }: Input) =>
  1e-9 * Math.max(1e-6, Math.abs(existing?.value ?? 0), capacityOf(config), count);

/** Whether a rounding error may have moved a quotient across a whole number. */
const nearWhole = (quotient: number) =>
  Math.abs(quotient - Math.round(quotient)) <= 1e-6 * Math.max(1, Math.abs(quotient));

describe("calculateRateLimit", () => {
  it("gives the same value, ts and window as Convex's function", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { existing, config, now, count } = input;
        const ours = calculateRateLimit(existing, config, now, count);
        const theirs = convex(existing, config, now, count);
        expect(Math.abs(ours.value - theirs.value)).toBeLessThanOrEqual(noiseOf(input));
        expect(ours.ts).toBe(theirs.ts);
        expect(ours.windowStart).toBe(theirs.windowStart);
      }),
      { numRuns: cases(2000) },
    );
  });

  it("gives the same wait as Convex's function, in whole ms", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { existing, config, now, count } = input;
        const ours = calculateRateLimit(existing, config, now, count);
        const theirs = convex(existing, config, now, count);
        // A missing amount within the rounding error may be 0 for one of the two.
        fc.pre(Math.abs(theirs.value) > noiseOf(input));
        fc.pre((theirs.retryAfter ?? 0) <= MAX_WAIT);
        if (theirs.retryAfter === undefined) {
          expect(ours.retryAfter).toBeUndefined();
          return;
        }
        const exact = Math.ceil(theirs.retryAfter);
        // A rounding error may cost one step: a millisecond of a bucket, or one window.
        const bucket = config.kind === "token bucket";
        const steps = bucket ? theirs.retryAfter : -theirs.value / config.rate;
        const slack = nearWhole(steps) ? (bucket ? 1 : config.period) : 0;
        expect(Math.abs((ours.retryAfter ?? Number.NaN) - exact)).toBeLessThanOrEqual(slack);
      }),
      { numRuns: cases(2000) },
    );
  });

  it.each<[title: string, config: PeriodicConfig, row: RateLimitState | null, count: number]>([
    ["a full bucket", { kind: "token bucket", rate: 10, period: 60_000 }, null, 3],
    ["an empty bucket", { kind: "token bucket", rate: 10, period: 60_000 }, { value: 0, ts: 0 }, 9],
    ["an idle bucket", { kind: "token bucket", rate: 1, period: 2 ** 45 }, { value: 0, ts: 0 }, 1],
    ["a full window", { kind: "fixed window", rate: 10, period: 4096, start: 5 }, null, 3],
    ["a used window", { kind: "fixed window", rate: 1, period: 2 ** 41 }, { value: 0, ts: 0 }, 9],
  ])("gives the whole result of Convex's function for %s", (_title, config, row, count) => {
    const now = 2 ** 40;
    expect(calculateRateLimit(row, config, now, count)).toEqual(convex(row, config, now, count));
  });

  it("has the token that Convex's function misses by a rounding error", () => {
    const config: PeriodicConfig = { kind: "token bucket", rate: 12, period: DAY };
    const at = (hour: number) => [{ value: 0, ts: 0 }, config, hour * HOUR, hour / 2] as const;
    const even = Array.from({ length: 12 }, (_, n) => 2 * (n + 1));
    expect(even.filter((hour) => convex(...at(hour)).value < 0)).toEqual([2, 4, 8, 14, 16]);
    expect(even.filter((hour) => calculateRateLimit(...at(hour)).value !== 0)).toEqual([]);
  });
});
