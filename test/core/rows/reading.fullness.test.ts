import { describe, expect, it } from "vitest";
import type { Bucket } from "../../../core/config.js";
import { MINUTE } from "../../../core/durations.js";
import { fullAt, isFullAt, usageOf } from "../../../core/rows/reading.js";
import { CLOSED } from "../../../core/rows/bucket.js";
import { bucketConfig } from "../../../core/rows/credits.js";

const T = Date.UTC(2030, 0, 1);
const bucket: Bucket = { kind: "token bucket", rate: 6, period: MINUTE };
const window: Bucket = { kind: "fixed window", rate: 6, period: MINUTE, start: 0, capacity: 12 };
const month: Bucket = { kind: "fixed window", rate: 6, period: "month", start: 0 };
const credits = bucketConfig({ kind: "credits", capacity: 100 });

describe("a row", () => {
  it.each<[string, Bucket, number, ms: number]>([
    ["of which nothing is used", bucket, 0, 0],
    ["of a bucket", bucket, 3, MINUTE / 2],
    ["of a bucket in debt", bucket, -3, 1.5 * MINUTE],
    ["of which a larger config has used more", bucket, 18, 3 * MINUTE],
    ["of a window", window, 7, 2 * MINUTE],
    ["of a window in debt", window, -1, 3 * MINUTE],
    ["of a month", month, 6, 31 * 24 * 60 * MINUTE],
  ])("%s is full when that has refilled, and not before", (_, config, used, ms) => {
    const row = { used, ts: T };
    expect(fullAt(row, config)).toBe(T + ms);
    if (ms > 0) expect(isFullAt(row, config, T + ms - 1)).toBe(false);
    expect(isFullAt(row, config, T + ms)).toBe(true);
  });

  it("that is closed is full when its tokens have come after it opened", () => {
    const row = { used: CLOSED, ts: T };
    for (const [config, ms] of [
      [bucket, MINUTE],
      [window, MINUTE],
      [month, 0],
    ] as const) {
      expect(fullAt(row, config)).toBe(T + ms);
      expect(isFullAt(row, config, T + ms)).toBe(true);
      expect(isFullAt(row, config, T + ms - 1)).toBe(false);
      expect(usageOf(row, config)).toBe(1);
    }
  });

  it.each([
    [bucket, [0, 3, 6, 18, -1], [0, 0.5, 1, 1, 1]],
    [window, [0, 3, 12, 13, -1], [0, 0.25, 1, 1, 1]],
    [credits, [100, 75, 0, -5], [0, 0.25, 1, 1]],
    [{ ...bucket, capacity: 0 } as Bucket, [0, -1], [0, 1]],
  ])("tells how much of a capacity was used, of %o", (config, used, usage) => {
    expect(used.map((each) => usageOf({ used: each, ts: T }, config))).toEqual(usage);
  });

  it("of credits is full where none are left, and never by itself", () => {
    expect(isFullAt({ used: 0, ts: T }, credits, T)).toBe(true);
    for (const used of [1, -1]) {
      expect(isFullAt({ used, ts: T }, credits, T + 1e12)).toBe(false);
      expect(fullAt({ used, ts: T }, credits)).toBe(Infinity);
    }
  });
});
