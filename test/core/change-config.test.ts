import { describe, expect, it } from "vitest";
import { calculateRateLimit, type RateLimitState, stateAt } from "../../core/calculate.js";
import { changedRows } from "../../core/change-config.js";
import type { Bucket } from "../../core/config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { withCalendar } from "../../core/with-calendar.js";

const daily = { kind: "fixed window", period: DAY, start: 0 } as const;
const free: Bucket = { ...daily, rate: 5 };
const pro: Bucket = { ...daily, rate: 50 };
/** Some time of a day. */
const NOW = 20_000 * DAY + 10 * HOUR;

/** The only row of a limit after a change of plan. */
function changed(row: RateLimitState | null, from: Bucket, to: Bucket, now = NOW) {
  return changedRows([row], from, to, now)?.[0];
}

/** The tokens left after a change of plan, of a row that lacks `used` tokens. */
function left(used: number, from: Bucket, to: Bucket) {
  const { value, ts } = calculateRateLimit(null, from, NOW, used);
  const next = changed({ value, ts }, from, to)!;
  return stateAt(next, to, NOW).value;
}

describe("what was used stays used", () => {
  it.each([
    [5, free, pro, 45],
    [2, free, pro, 48],
    [0, free, pro, 50],
    [20, pro, free, -15],
    [3, pro, free, 2],
    [20, pro, { ...free, maxReserved: 10 }, -10],
    [20, pro, { ...free, maxReserved: 0 }, 0],
    [4, free, { kind: "token bucket", rate: 10, period: MINUTE, capacity: 30 }, 26],
    [4, { kind: "token bucket", rate: 10, period: MINUTE }, free, 1],
    // Windows that carry tokens over.
    [8, { ...free, capacity: 10 }, { ...pro, capacity: 100 }, 92],
  ] satisfies [number, Bucket, Bucket, number][])("%d used of %o, then %o", (used, a, b, value) => {
    expect(left(used, a, b)).toBe(value);
  });

  it("also of a debt, which neither deepens beyond what is allowed nor is forgiven", () => {
    const owing = (value: number) => ({ value, ts: 20_000 * DAY });
    expect(changed(owing(-10), free, pro)).toEqual(owing(35));
    expect(changed(owing(-10), pro, free)).toEqual(owing(-55));
    expect(changed(owing(-10), pro, { ...free, maxReserved: 0 })).toEqual(owing(-10));
  });

  it("after a change to and fro", () => {
    const there = changed({ value: 30, ts: 20_000 * DAY }, pro, free)!;
    expect(changed(there, free, pro)).toEqual({ value: 30, ts: 20_000 * DAY });
  });

  it("and a row is left alone that does not exist, or holds more than the old config ever does", () => {
    expect(changed(null, free, pro)).toBeUndefined();
    expect(changed({ value: 45, ts: 20_000 * DAY }, free, pro)).toBeUndefined();
    expect(changed({ value: 3, ts: 20_000 * DAY }, free, { ...free })).toBeUndefined();
  });
});

describe("the windows after a change", () => {
  const today = 20_000 * DAY;

  it("are those of before where both configs have the same", () => {
    // By a phase of its own, from before the limit had a start.
    const row = { value: 0, ts: today + 7 * HOUR };
    expect(changed(row, free, pro)).toEqual({ value: 45, ts: today + 7 * HOUR });
  });

  it.each([
    ["an hour", "a day", { ...free, period: HOUR }, pro, today + 10 * HOUR, today],
    ["a day", "an hour", free, { ...pro, period: HOUR }, today, today + 10 * HOUR],
    ["a day", "another day", free, { ...pro, start: 3 * HOUR }, today, today + 3 * HOUR],
    ["a day", "a month", free, { ...pro, period: "month" }, today, Date.UTC(2024, 9)],
    [
      "a day",
      "a day in Tokyo",
      free,
      withCalendar({ kind: "fixed window", rate: 50, period: "day", timeZone: "Asia/Tokyo" }),
      today,
      today - 9 * HOUR,
    ],
  ] satisfies [string, string, Bucket, Bucket, number, number][])(
    "from %s to %s: the one that contains this instant",
    (_, __, from, to, before, after) => {
      expect(changed({ value: 1, ts: before }, from, to)).toEqual({ value: 46, ts: after });
    },
  );

  it("bring no tokens at the moment of the change", () => {
    // Ten hours of the new plan have passed since the start of the day.
    const next = changed({ value: 0, ts: today }, free, { ...free, period: HOUR })!;
    expect(stateAt(next, { ...free, period: HOUR }, NOW).value).toBe(0);
  });
});

describe("a closed bucket", () => {
  const closing = { blockFor: 3 * HOUR } as const;
  const bucket: Bucket = { kind: "token bucket", rate: 5, period: MINUTE, ...closing };
  const opensAfter = (row: RateLimitState, config: Bucket) => {
    const passes = (ms: number) => decideRateLimit(row, config, NOW + ms, 1).result.ok;
    expect(passes(0)).toBe(false);
    const { retryAfter } = decideRateLimit(row, config, NOW, 1).result;
    expect(passes(retryAfter! - 1)).toBe(false);
    expect(passes(retryAfter!)).toBe(true);
    return retryAfter!;
  };
  /** What a denial leaves of an exhausted row. */
  const closed = (config: Bucket, ts: number) => {
    const { next } = decideRateLimit({ value: 0, ts }, config, NOW, 1);
    return next!;
  };

  it("of tokens that refill opens when it would have opened", () => {
    const to: Bucket = { ...bucket, rate: 500 };
    const row = closed(bucket, NOW);
    // A token comes after the end of the block.
    expect(opensAfter(row, bucket)).toBe(3 * HOUR + 12_000);
    expect(opensAfter(changed(row, bucket, to)!, to)).toBe(3 * HOUR + 120);
    const open: Bucket = { ...to, blockFor: undefined! };
    expect(opensAfter(changed(row, bucket, open)!, open)).toBe(3 * HOUR + 120);
  });

  it("of windows opens with the same window", () => {
    const from: Bucket = { ...free, ...closing, blockFor: 20 * HOUR };
    const row = closed(from, 20_000 * DAY);
    const to: Bucket = { ...pro, ...closing };
    expect(opensAfter(row, from)).toBe(38 * HOUR);
    expect(opensAfter(changed(row, from, to)!, to)).toBe(38 * HOUR);
  });

  it("opens with the first of the new windows after that", () => {
    const row = closed(bucket, NOW);
    const to: Bucket = { ...pro, ...closing };
    expect(opensAfter(changed(row, bucket, to)!, to)).toBe(14 * HOUR);
    const atOnce: Bucket = { ...to, afterBlock: "new window" };
    expect(opensAfter(changed(row, bucket, atOnce)!, atOnce)).toBe(3 * HOUR);
  });
});

describe("the shards of a limit", () => {
  const whole: Bucket = { kind: "token bucket", rate: 40, period: MINUTE };
  const rows = [{ value: 0, ts: NOW }, null, { value: 5, ts: NOW }, null];

  it("share what was used", () => {
    const to = { ...whole, rate: 100, shards: 4 };
    const next = changedRows(rows, { ...whole, shards: 4 }, to, NOW);
    // 15 used of 40.
    expect(next).toEqual(Array.from({ length: 4 }, () => ({ value: 85 / 4, ts: NOW })));
  });

  it("come and go with the config", () => {
    const more = changedRows(
      [...rows, ...rows],
      { ...whole, shards: 4 },
      { ...whole, shards: 8 },
      NOW,
    );
    expect(more).toEqual(Array.from({ length: 8 }, () => ({ value: 25 / 8, ts: NOW })));
    const fewer = changedRows(rows, { ...whole, shards: 4 }, whole, NOW);
    expect(fewer).toEqual([{ value: 25, ts: NOW }, null, null, null]);
  });

  it("stay as they are where all of them are full", () => {
    expect(changedRows([null, null], { ...whole, shards: 2 }, whole, NOW)).toBeUndefined();
  });
});

it("takes a row from the future as it is", () => {
  const bucket: Bucket = { kind: "token bucket", rate: 10, period: MINUTE };
  const row = { value: 4, ts: NOW + HOUR };
  expect(changed(row, bucket, { ...bucket, rate: 20 })).toEqual({ value: 14, ts: NOW + HOUR });
});
