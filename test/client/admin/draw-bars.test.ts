/** The texts below the bars. The drawing itself is seen in test/e2e/control-room.test.ts. */
import { expect, it } from "vitest";
import { roundTimes } from "../../../client/admin/draw-bars.js";
import { HOUR, MINUTE } from "../../../core/durations.js";

/** From seven minutes past nine of the reader's clock. */
const START = new Date(2030, 3, 3, 9, 7).getTime();
const spans = (count: number, every: number) =>
  Array.from({ length: count }, (_, index) => {
    const start = START + index * every;
    return { start, end: start + every, granted: 0, denied: 0 };
  });
const timesOf = (all: ReturnType<typeof spans>, most: number) =>
  roundTimes(all, most).map((index) => new Date(all[index]!.start).toTimeString().slice(0, 5));

it("stand at round times, and are no more than fit", () => {
  expect(timesOf(spans(60, MINUTE), 4)).toEqual(["09:15", "09:30", "09:45", "10:00"]);
  expect(timesOf(spans(60, MINUTE), 2)).toEqual(["09:30", "10:00"]);
  expect(timesOf(spans(60, MINUTE), 12)[0]).toBe("09:10");
});

it("are as far from each other, from the first bar on, where none is at a round time", () => {
  expect(roundTimes(spans(24, HOUR), 5)).toEqual([0, 5, 10, 15, 20]);
  expect(roundTimes([], 5)).toEqual([]);
});
