/** Windows whose starts a server has sent, for a page that cannot calculate them itself. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculateRateLimit, stateAt } from "../../core/calculate.js";
import { MAX_RETRY_AFTER, type ShownWindow } from "../../core/config.js";
import { decideRateLimit } from "../../core/decide.js";
import { rowOfTokens } from "../../core/rows/bucket.js";
import { windowAfter, windowAt, windowsSince } from "../../core/windows.js";

const listed = (starts: number[], options: Partial<ShownWindow> = {}) =>
  ({
    kind: "fixed window",
    rate: 2,
    capacity: 6,
    period: 1000,
    starts,
    ...options,
  }) as ShownWindow;

describe("windows at instants that a server has sent", () => {
  const config = listed([1000, 1700, 1700, 9000]);

  it("start there, and nowhere else", () => {
    expect([999, 1000, 1699, 1700, 8999, 1e9].map((now) => windowAt(config, now))).toEqual([
      999, 1000, 1000, 1700, 1700, 9000,
    ]);
    expect([999, 1000, 1699, 1700, 9000, 1e9].map((now) => windowsSince(config, 0, now))).toEqual([
      0, 1, 1, 3, 4, 4,
    ]);
    expect([0, 1, 2, 3, 4, 5].map((count) => windowAfter(config, 0, count))).toEqual([
      0,
      1000,
      1700,
      1700,
      9000,
      Infinity,
    ]);
  });

  it("bring their tokens, twice where an instant is there twice, up to the capacity", () => {
    const row = { value: -1, ts: 500 };
    const held = (now: number) => stateAt(row, config, now);
    expect(held(999)).toEqual({ value: -1, ts: 500 });
    expect(held(1000)).toEqual({ value: 1, ts: 1000 });
    expect(held(1700)).toEqual({ value: 5, ts: 1700 });
    expect(held(9000)).toEqual({ value: 6, ts: 9000 });
  });

  it("do not come twice to a row that has had them", () => {
    const row = stateAt({ value: 0, ts: 500 }, config, 1700);
    expect(row).toEqual({ value: 6, ts: 1700 });
    expect(stateAt({ ...row, value: 1 }, config, 8999)).toEqual({ value: 1, ts: 1700 });
  });

  it("end: a call that more than the last one would need waits for ever", () => {
    const row = { value: 0, ts: 1700 };
    expect(calculateRateLimit(row, config, 2000, 2).retryAfter).toBe(7000);
    expect(calculateRateLimit(row, config, 2000, 3).retryAfter).toBe(MAX_RETRY_AFTER);
    expect(calculateRateLimit(row, listed([]), 2000, 1).retryAfter).toBe(MAX_RETRY_AFTER);
  });

  it("grant exactly when the wait that was told has passed", () => {
    const instant = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(
        fc.array(instant, { maxLength: 6 }),
        fc.integer({ min: -4, max: 3 }),
        instant,
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(0.5, 1000, 1e7),
        (instants, value, now, count, period) => {
          const any = listed(
            [...instants].sort((a, b) => a - b),
            { period },
          );
          const row = rowOfTokens(any, { value, ts: now });
          const { result } = decideRateLimit(row, any, now, count);
          const passes = (ms: number) => decideRateLimit(row, any, now + ms, count).result.ok;
          if (result.ok) expect(value).toBeGreaterThanOrEqual(count);
          else if (result.retryAfter === MAX_RETRY_AFTER) expect(passes(1e6)).toBe(false);
          else expect([-1, 0].map((ms) => passes(result.retryAfter! + ms))).toEqual([false, true]);
        },
      ),
    );
  });
});
