/** The ranges that the chart asks for. */
import { describe, expect, it } from "vitest";
import type { AdminLimit } from "../../../client/admin/admin-types.js";
import { allSpans, askedOf, RANGES, rangesOf } from "../../../client/admin/usage-ranges.js";
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
