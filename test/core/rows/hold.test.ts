/** What a row says that adds up holds. */
import { expect, it } from "vitest";
import { type Hold, withHold, withoutHold } from "../../../core/rows/hold.js";

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);
const hold = (count: number, until: number): Hold => ({ count, atLapse: "release", until });

it("is another state after each of a thousand holds that come, whatever has gone meanwhile", () => {
  let sum = withHold(null, hold(3, NOW));
  const seen = [sum];
  for (let i = 0; i < 500; i++) {
    sum = withHold(withoutHold(withHold(sum, hold(1, NOW + MINUTE)), 1), hold(3, NOW + MINUTE));
    sum = withoutHold(sum, 3)!;
    expect(sum.value).toBe(3);
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
