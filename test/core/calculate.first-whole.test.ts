import { describe, expect, it } from "vitest";
import { firstWhole } from "../../core/calculate.js";
import { MAX_WAIT } from "../../core/config.js";

/** A predicate that is true from `threshold` on. It throws if it is called too often. */
function from(threshold: number) {
  let asked = 0;
  return (whole: number) => {
    if (++asked > 500) throw new Error(`asked 500 times, last for ${whole}`);
    return whole >= threshold;
  };
}

describe("firstWhole", () => {
  const thresholds = [1, 2, 3, 1000, 31_536_000_000, 2 ** 40 + 1, MAX_WAIT - 1, MAX_WAIT];

  it.each(thresholds)("finds %d from any guess", (threshold) => {
    const near = [-1000, -2, -1, 0, 1, 2, 1000].map((off) => threshold + off);
    for (const guess of [-Infinity, -5, 0, 1, 7, 1e6, threshold * 2, ...near]) {
      expect(firstWhole(guess, from(threshold)), `from ${guess}`).toBe(threshold);
    }
  });

  it("calls the predicate twice if the guess is right", () => {
    const asked: number[] = [];
    firstWhole(1000, (whole) => asked.push(whole) > 0 && whole >= 1000);
    expect(asked).toEqual([1000, 999]);
  });

  it.each([2 * MAX_WAIT + 2, 2 * MAX_WAIT + 4000, Infinity])(
    "returns Infinity for %d, above which doubles skip whole numbers",
    (threshold) => {
      for (const guess of [1, MAX_WAIT, 2 * MAX_WAIT - 1, 2 * MAX_WAIT, threshold]) {
        expect(firstWhole(guess, from(threshold)), `from ${guess}`).toBe(Infinity);
      }
    },
  );

  it("returns Infinity for a guess that is not a finite number", () => {
    expect(firstWhole(Number.NaN, from(1))).toBe(Infinity);
    expect(firstWhole(Infinity, from(1))).toBe(Infinity);
  });
});
