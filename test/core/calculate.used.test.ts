import { expect, it } from "vitest";
import { readingOf } from "../../core/calculate.js";

const config = { kind: "token bucket", rate: 3, period: 1000 } as const;

it.each([
  ["to the last bit where both numbers agree", { value: 2.9, used: 0.1 }, 0.1],
  ["by what is left where only that is known", { value: 2.9 }, 3 - 2.9],
  ["by what is left where a caller has changed it", { value: 1, used: 0.1 }, 2],
  ["as full where more is left than it can hold", { value: 5 }, 0],
])("a bucket is read %s", (_, state, used) => {
  expect(readingOf(config, { ...state, ts: 1 })).toEqual({ used, ts: 1 });
});

it("subtracting from the capacity may lose the last bit", () => {
  expect(3 - (3 - 0.1)).not.toBe(0.1);
});
