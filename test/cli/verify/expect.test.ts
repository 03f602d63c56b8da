import { describe, expect, it } from "vitest";
import { expect as matchers, isEqual } from "../../../cli/verify/expect.js";

describe("the matchers of verify", () => {
  it.each([
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [[1, [2]], [1, [2]], true],
    [[1], [1, undefined], false],
    [[], {}, false],
    [0, -0, false],
    [NaN, NaN, true],
    [null, undefined, false],
    [{ a: 0.1 + 0.2 }, { a: 0.3 }, false],
  ])("compare %j with %j", (a, b, isSame) => {
    expect(isEqual(a, b)).toBe(isSame);
    expect(isEqual(b, a)).toBe(isSame);
  });

  it("say what they expected, in one line", () => {
    expect(() => matchers([1, 2]).toEqual([1])).toThrow("expected [ 1 ], got [ 1, 2 ]");
    expect(() => matchers(1).toBe(2)).toThrow("expected 2, got 1");
    const long = () => matchers("x".repeat(5000)).toBe("");
    expect(long).toThrow(/^expected '', got 'x{299}…$/);
  });
});
