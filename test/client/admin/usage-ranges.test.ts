/** The ranges that the chart asks for. */
import { describe, expect, it } from "vitest";
import type { AdminLimit } from "../../../client/admin/admin-types.js";
import {
  allSpans,
  askedOf,
  datesOf,
  endsOf,
  movedRange,
  RANGES,
  rangeOf,
  rangesOf,
  rangeText,
} from "../../../client/admin/usage-ranges.js";
import { DAY, HOUR, MINUTE } from "../../../core/durations.js";

const limit = (usageEvery?: number): AdminLimit => ({
  name: "calls",
  kind: "token bucket",
  config: { kind: "token bucket", rate: 1, period: MINUTE },
  usage: usageEvery !== undefined,
  ...(usageEvery !== undefined && { usageEvery }),
  holds: false,
  overrides: true,
});
const [hour, day, week] = RANGES;
const NOW = Date.UTC(2030, 3, 3, 10, 17, 30);

describe("the ranges of a chart", () => {
  it.each([
    ["decisions of this process", undefined, "hour day week"],
    ["usage by the minute", MINUTE, "hour day week"],
    ["usage by the hour", HOUR, "day week"],
    ["usage by the day", DAY, "week"],
  ])("say something of %s", (_, every, ids) => {
    expect(
      rangesOf(limit(every))
        .map(({ id }) => id)
        .join(" "),
    ).toBe(ids);
  });

  it.each([
    [undefined, hour!, MINUTE, 60],
    [MINUTE, day!, 30 * MINUTE, 48],
    [HOUR, day!, HOUR, 24],
    [HOUR, week!, 4 * HOUR, 42],
    [DAY, week!, DAY, 7],
    // 45 minutes fit 32 times into a day.
    [45 * MINUTE, day!, 45 * MINUTE, 32],
    // Twice 18 minutes is no part of a day, and 20 bars of it are.
    [18 * MINUTE, day!, 36 * MINUTE, 40],
  ])(
    "of usage by %s ms are whole spans, the last of which is now's",
    (own, range, every, count) => {
      const asked = askedOf(limit(own), range, NOW);
      expect(asked.every).toBe(every);
      expect((asked.to - asked.from) / every).toBe(count);
      expect(DAY % asked.every).toBe(0);
      expect(asked.from % every).toBe(0);
      expect(asked.to - NOW).toBeGreaterThan(0);
      expect(asked.to - NOW).toBeLessThanOrEqual(every);
    },
  );

  it("have a bar for each span, also where nothing was counted", () => {
    const spans = allSpans([{ start: 200, end: 300, granted: 4, denied: 1 }], {
      from: 0,
      to: 400,
      every: 100,
    });
    expect(spans.map(({ start, granted, denied }) => [start, granted, denied])).toEqual([
      [0, 0, 0],
      [100, 0, 0],
      [200, 4, 1],
      [300, 0, 0],
    ]);
  });
});

describe("a range by date", () => {
  const from = Date.UTC(2030, 3, 1, 8, 5);

  it.each([
    [HOUR, MINUTE],
    [2 * HOUR, 5 * MINUTE],
    [DAY, 30 * MINUTE],
    [7 * DAY, 4 * HOUR],
    [60 * DAY, DAY],
    [366 * DAY, DAY],
  ])("of %i ms has bars that can be told apart, of %i ms", (length, bar) => {
    const range = datesOf(from, from + length);
    expect(range.bar).toBe(bar);
    const asked = askedOf(limit(MINUTE), range, NOW);
    expect(asked.every).toBe(bar);
    expect(asked.from).toBeLessThanOrEqual(from);
    expect(asked.to).toBeGreaterThanOrEqual(from + length);
    expect(asked.to - asked.from).toBeLessThanOrEqual(length + 2 * bar);
  });

  it("is at least a minute long, and at most a year", () => {
    expect(datesOf(from, from - HOUR).length).toBe(MINUTE);
    expect(datesOf(0, from).length).toBe(366 * DAY);
    expect(endsOf(datesOf(0, 1), NOW)).toEqual({ from: 0, to: MINUTE });
  });

  it("is a text in the address, and back", () => {
    for (const range of [...RANGES, datesOf(from, from + HOUR)]) {
      expect(rangeOf(rangeText(range, RANGES), RANGES)).toEqual(range);
    }
    expect(rangeText(hour!, RANGES)).toBeUndefined();
  });

  it.each([undefined, "", "year", "9-1", "1-1", "-1-5", "1e3-1e4", `1-${"9".repeat(16)}`])(
    "that is written as %o is the default",
    (text) => expect(rangeOf(text, [day!, week!])).toBe(day),
  );
});

describe("a step", () => {
  it("to an earlier range ends where the range begins, and a step to a later one leads back to now", () => {
    const before = movedRange(hour!, -1, NOW)!;
    const end = Math.ceil(NOW / MINUTE) * MINUTE - HOUR;
    expect(endsOf(before, NOW)).toEqual({ from: end - HOUR, to: end });
    const twice = movedRange(before, -1, NOW)!;
    expect(endsOf(twice, NOW)).toEqual({ from: end - 2 * HOUR, to: end - HOUR });
    expect(movedRange(twice, 1, NOW)).toEqual(before);
    expect(movedRange(before, 1, NOW)).toBe(hour);
    expect(movedRange(hour!, 1, NOW)).toBeUndefined();
  });

  it("of a length of its own ends now at the latest, and begins with the first instant at the earliest", () => {
    const length = 5 * HOUR;
    const late = datesOf(NOW - length - HOUR, NOW - HOUR);
    expect(endsOf(movedRange(late, 1, NOW)!, NOW)).toEqual({ from: NOW - length, to: NOW });
    expect(movedRange(datesOf(HOUR, 3 * HOUR), -1, NOW)).toBeUndefined();
  });
});
