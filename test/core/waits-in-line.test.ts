import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY, SECOND } from "../../core/durations.js";
import { rowOfTokens } from "../../core/rows/bucket.js";
import { waitsInLine } from "../../core/waits-in-line.js";
import { windowAt } from "../../core/windows.js";

const T = Date.UTC(2030, 0, 1, 12);
const ones = (length: number) => Array.from({ length }, () => 1);

describe("the waits of calls in a line", () => {
  const bucket: RateLimitConfig = {
    kind: "token bucket",
    rate: 1,
    period: 6 * SECOND,
    capacity: 3,
  };
  const window: RateLimitConfig = {
    kind: "fixed window",
    rate: 5,
    period: 10 * SECOND,
    capacity: 7,
    start: T,
  };

  it("come a token apart in a token bucket, also for more calls than it can hold tokens", () => {
    const held = { value: 1.5, config: bucket, now: T };
    expect(waitsInLine(held, ones(6))).toEqual([0, 3000, 9000, 15_000, 21_000, 27_000]);
  });

  it("come a window apart in a fixed window, from the end of the present one", () => {
    const held = { value: 1, config: window, now: T + 4000 };
    expect(waitsInLine(held, [1, ...ones(5), 1, 1])).toEqual([
      0,
      ...ones(5).map(() => 6000),
      16_000,
      16_000,
    ]);
  });

  it("count what a window cannot carry over as lost", () => {
    // 5 tokens, of which a call for 3 leaves 2. With those of the next window they are 7.
    const held = { value: 0, config: window, now: T };
    expect(waitsInLine(held, [3, 7, 7])).toEqual([10_000, 20_000, 40_000]);
  });

  it("follow the months of the calendar", () => {
    const config: RateLimitConfig = {
      kind: "fixed window",
      rate: 1,
      period: "month",
      start: Date.UTC(2030, 0, 31),
    };
    const now = Date.UTC(2030, 1, 28);
    const starts = waitsInLine({ value: 0, config, now }, ones(2)).map((wait) => now + wait);
    expect(starts).toEqual([Date.UTC(2030, 2, 31), Date.UTC(2030, 3, 30)]);
  });

  it("start from a snapshot, whose value is older than the line", () => {
    const snapshot = { value: -1, ts: T, config: bucket, now: T + 5 * SECOND };
    expect(waitsInLine(snapshot, ones(2))).toEqual([7 * SECOND, 13 * SECOND]);
  });

  it("are endless for a count that could never be granted, and not for those behind it", () => {
    expect(waitsInLine({ value: 0, config: bucket, now: T }, [1, 4, 1])).toEqual([
      6000,
      Infinity,
      12_000,
    ]);
  });

  it("are nothing where the limit is a shadow, or no call waits", () => {
    const shadow = { value: 0, config: { ...bucket, shadow: true }, now: T };
    expect(waitsInLine(shadow, ones(2))).toEqual([0, 0]);
    expect(waitsInLine({ value: 0, config: bucket, now: T }, [])).toEqual([]);
  });

  it("are those after which the limiter grants each call, and not one ms earlier", () => {
    const configs = fc.record({
      kind: fc.constantFrom("token bucket" as const, "fixed window" as const),
      rate: fc.integer({ min: 1, max: 20 }),
      period: fc.constantFrom(SECOND, 7 * SECOND, DAY),
      capacity: fc.integer({ min: 5, max: 30 }),
      start: fc.integer({ min: 0, max: 7 * SECOND }),
    });
    const counts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(configs, counts, fc.integer({ min: -10, max: 5 }), (any, line, value) => {
        const { kind, start, ...rest } = any;
        const config: RateLimitConfig =
          kind === "fixed window" ? { kind, start, ...rest } : { kind, ...rest };
        const now = T + 1234;
        const waits = waitsInLine({ value, config, now }, line);
        const ts = config.kind === "fixed window" ? windowAt(config, now) : now;
        let row = rowOfTokens(config, { value: Math.min(value, config.capacity!), ts });
        for (const [i, count] of line.entries()) {
          const at = now + waits[i]!;
          const ahead = now + (waits[i - 1] ?? 0);
          const earlier = decideRateLimit(row, config, at - 1, count).result;
          if (at > ahead) expect(earlier.ok).toBe(false);
          const { result, next } = decideRateLimit(row, config, at, count);
          expect(result.ok).toBe(true);
          row = next!;
        }
      }),
    );
  });
});
