/** The row that sums up holds. */
import { expect, it } from "vitest";
import { CLOSED } from "../../../core/rows/bucket.js";
import {
  type Hold,
  holdOf,
  holdState,
  isLapsed,
  lapsesAt,
  withHold,
  withoutHold,
} from "../../../core/rows/hold.js";

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);
const single = { made: 1, isShare: false };
const hold = (count: number, until: number): Hold => ({
  count,
  atLapse: "release",
  until,
  ...single,
});

it("is another state after each of a thousand holds that come, whatever has gone meanwhile", () => {
  let sum = withHold(null, hold(3, NOW));
  const seen = [sum];
  for (let i = 0; i < 500; i++) {
    sum = withHold(withoutHold(withHold(sum, hold(1, NOW + MINUTE)), 1), hold(3, NOW + MINUTE));
    sum = withoutHold(sum, 3)!;
    expect(sum.used).toBe(3);
    seen.push(sum);
  }
  expect(new Set(seen.map(({ ts }) => ts)).size).toBe(seen.length);
});

it("says an instant that is no later than the first of its holds lapses, and hardly earlier", () => {
  const first = withHold(null, hold(3, NOW + MINUTE));
  const sum = withHold(first, hold(2, NOW));
  for (const [state, until] of [
    [first, NOW + MINUTE],
    [sum, NOW],
    [withHold(sum, hold(1, NOW + MINUTE)), NOW],
  ] as const) {
    expect(state.ts).toBeLessThanOrEqual(until);
    expect(state.ts).toBeGreaterThan(until - 1);
  }
});

it("comes back when it lapses, or when its bucket was written later, but not when one opens", () => {
  const lapsing = hold(3, NOW);
  expect(lapsesAt(lapsing, null)).toBe(NOW);
  expect(lapsesAt(lapsing, { used: 3, ts: NOW - 1 })).toBe(NOW);
  expect(lapsesAt(lapsing, { used: 3, ts: NOW + 5 })).toBe(NOW + 5);
  expect(lapsesAt(lapsing, { used: CLOSED, ts: NOW + MINUTE })).toBe(NOW);
});

it("says of what a hold is a part, and lapses at its whole ms", () => {
  for (const made of [1, 2, 3, 511, 512]) {
    for (const isShare of [false, true]) {
      const one: Hold = { count: 2.5, atLapse: "keep", until: NOW + 1, made, isShare };
      const state = holdState(one);
      expect(holdOf(state)).toEqual(one);
      expect(isLapsed(state, NOW)).toBe(false);
      expect(isLapsed(state, NOW + 1)).toBe(true);
    }
  }
  const many = holdState({ ...hold(1, NOW), made: 10_000, isShare: true });
  expect(holdOf(many)).toEqual({ ...hold(1, NOW), made: 512, isShare: true });
});
