import { describe, expect, it } from "vitest";
import { firstWhole } from "../../core/calculate.js";
import { MAX_WAIT } from "../../core/config.js";

/** A predicate that holds from `threshold` on, and is not asked forever. */
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

  it("asks twice where the guess is right", () => {
    const asked: number[] = [];
    firstWhole(1000, (whole) => asked.push(whole) > 0 && whole >= 1000);
    expect(asked).toEqual([1000, 999]);
  });

  it.each([2 * MAX_WAIT + 2, 2 * MAX_WAIT + 4000, Infinity])(
    "gives up on %d, out of the reach of whole doubles",
    (threshold) => {
      for (const guess of [1, MAX_WAIT, 2 * MAX_WAIT - 1, 2 * MAX_WAIT, threshold]) {
        expect(firstWhole(guess, from(threshold)), `from ${guess}`).toBe(Infinity);
      }
    },
  );

  it("gives up on a guess that is no number", () => {
    expect(firstWhole(Number.NaN, from(1))).toBe(Infinity);
    expect(firstWhole(Infinity, from(1))).toBe(Infinity);
  });
});
