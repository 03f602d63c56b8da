/** How several limits pay for one call together. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sharesOf } from "../../core/shares.js";

const purse = (value: number, tolerance = 0) => ({ value, tolerance });
const anyPurse = fc.record({
  value: fc.oneof(
    fc.integer({ min: -10, max: 20 }),
    fc.double({ min: -10, max: 20, noNaN: true }),
    // A little less than a whole number, as sums of doubles are.
    fc.integer({ min: 1, max: 10 }).map((value) => value - 4e-10),
  ),
  tolerance: fc.constantFrom(0, 1e-9),
});
const anyCount = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.double({ min: 0.01, max: 40, noNaN: true }),
);

describe("sharesOf", () => {
  it.each([
    [[5, 10], 3, [3, 0]],
    [[5, 10], 5, [5, 0]],
    [[5, 10], 12, [5, 7]],
    [[5, 10], 15, [5, 10]],
    [[5, 10], 16, undefined],
    [[-3, 10], 4, [0, 4]],
    [[2.7, 10], 4, [2, 2]],
    [[2.7, 1.3], 4, undefined],
    [[2.5, 10], 4.5, [2.5, 2]],
    [[0, 0], 0, [0, 0]],
    [[1, 1, 1], 3, [1, 1, 1]],
  ])("of %j for %d is %j", (values, count, shares) => {
    const given = sharesOf(
      values.map((value) => purse(value)),
      count,
    );
    expect(given).toEqual(shares);
  });

  it("takes a token that is missing by a rounding error only", () => {
    expect(sharesOf([purse(0.9999999999, 1e-9), purse(1)], 2)).toEqual([1, 1]);
    expect(sharesOf([purse(0.9999999999), purse(1)], 2)).toBeUndefined();
  });

  it("adds up to the count, and overdraws no limit", () => {
    fc.assert(
      fc.property(fc.array(anyPurse, { minLength: 1, maxLength: 4 }), anyCount, (purses, count) => {
        const shares = sharesOf(purses, count);
        fc.pre(shares !== undefined);
        expect(shares!.reduce((sum, share) => sum + share)).toBeCloseTo(count, 9);
        for (const [i, share] of shares!.entries()) {
          expect(share).toBeGreaterThanOrEqual(0);
          const { value, tolerance } = purses[i]!;
          if (share > 0) expect(value - share).toBeGreaterThanOrEqual(-tolerance);
          if (Number.isInteger(count)) expect(Number.isInteger(share)).toBe(true);
        }
      }),
    );
  });

  it("asks a later limit only for what the earlier ones lack", () => {
    fc.assert(
      fc.property(fc.array(anyPurse, { minLength: 2, maxLength: 4 }), anyCount, (purses, count) => {
        const shares = sharesOf(purses, count);
        fc.pre(shares !== undefined);
        const last = shares!.findLastIndex((share) => share > 0);
        const least = Number.isInteger(count) ? 1 : 1e-9;
        for (const [i, share] of shares!.entries()) {
          if (i < last) expect(purses[i]!.value - share).toBeLessThan(least);
        }
      }),
    );
  });

  it("is there exactly where there are enough whole tokens", () => {
    fc.assert(
      fc.property(
        fc.array(anyPurse, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        (purses, count) => {
          const whole = purses.map(({ value, tolerance }) => {
            return Math.max(0, Math.floor(value + tolerance));
          });
          const isEnough = whole.reduce((sum, value) => sum + value) >= count;
          expect(sharesOf(purses, count) !== undefined).toBe(isEnough);
        },
      ),
    );
  });
});
