import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldAt } from "../../core/rows/reading.js";
import {
  type Bucket,
  capacityOf,
  longestPeriod,
  shardConfig,
  toleranceOf,
} from "../../core/config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { observedRows } from "../../core/observe.js";
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row as StoredRow } from "../../core/rows/row.js";
import { decideShardPair } from "../../core/shards.js";
import { withCalendar } from "../../core/with-calendar.js";
import { anyConfig, anyNow, anyRow, between } from "./arbitraries.js";

type Row = StoredRow | null;

const bucket: Bucket = { kind: "token bucket", rate: 60, period: MINUTE, capacity: 100 };
const window: Bucket = { kind: "fixed window", rate: 60, period: MINUTE, start: 0 };
const month: Bucket = { kind: "fixed window", rate: 60, period: "month", start: 0 };
const NOW = 20_000 * DAY + 10 * HOUR + 15 * SECOND;

/** The only row, after it was lowered. */
function observed(row: Row, config: Bucket, remaining: number, wait = 0): Row | undefined {
  return observedRows([row], config, NOW, remaining, NOW + wait)[0];
}

describe("an only row", () => {
  it.each([
    ["a full bucket", bucket, null, 40, { used: 60, ts: NOW }],
    ["a bucket that holds as much", bucket, { used: 60, ts: NOW }, 40, undefined],
    ["a bucket that holds less", bucket, { used: 70, ts: NOW }, 40, undefined],
    [
      "a bucket that has refilled",
      bucket,
      { used: 70, ts: NOW - 20_000 },
      40,
      { used: 60, ts: NOW },
    ],
    ["a bucket in debt", bucket, { used: -5, ts: NOW }, 0, undefined],
    ["a row of a clock ahead", bucket, { used: 50, ts: NOW + 9 }, 40, { used: 60, ts: NOW + 9 }],
    ["a window", window, { used: 10, ts: NOW - 15_000 }, 40, { used: 20, ts: NOW - 15_000 }],
    [
      "a window of before",
      window,
      { used: 10, ts: NOW - 75_000 },
      40,
      { used: 20, ts: NOW - 15_000 },
    ],
  ] as const)("%s", (_, config, row, remaining, expected) => {
    expect(observed(row, config, remaining)).toEqual(expected);
  });
});

describe("where nothing remains, and a wait is given", () => {
  const closed = (ms: number) => ({ used: CLOSED, ts: NOW + ms });

  it("a bucket is closed until its end, and empty then", () => {
    expect(observed(null, bucket, 0, 20 * SECOND)).toEqual(closed(20 * SECOND));
    const ahead = { used: 97, ts: NOW + 5000 };
    expect(observed(ahead, bucket, 0, 20 * SECOND)).toEqual(closed(20 * SECOND));
    expect(heldAt(closed(20 * SECOND), bucket, NOW + 20 * SECOND).value).toBe(0);
  });

  it("a row of a clock that is further ahead stays empty until then", () => {
    const ahead = { used: 97, ts: NOW + MINUTE };
    expect(observed(ahead, bucket, 0, 20 * SECOND)).toEqual(closed(MINUTE));
  });

  it("a longer wait stays, and so does a wait with tokens left", () => {
    expect(observed({ used: -30, ts: NOW }, bucket, 0, 20 * SECOND)).toBeUndefined();
    expect(observed(closed(30 * SECOND), bucket, 0, 20 * SECOND)).toBeUndefined();
    expect(observed(closed(10 * SECOND), bucket, 0, 20 * SECOND)).toEqual(closed(20 * SECOND));
    expect(observed(null, bucket, 7, 20 * SECOND)).toEqual({ used: 93, ts: NOW });
  });

  it("a window waits for the first one that starts then or later, and has its tokens alone", () => {
    const ts = NOW - 15 * SECOND;
    expect(observed(null, window, 0, 20 * SECOND)).toEqual({ used: CLOSED, ts: ts + MINUTE });
    expect(observed(null, window, 0, 45 * SECOND)).toEqual({ used: CLOSED, ts: ts + MINUTE });
    const state = observed(null, window, 0, 46 * SECOND)!;
    expect(state).toEqual({ used: CLOSED, ts: ts + 2 * MINUTE });
    expect(heldAt(state, window, ts + 2 * MINUTE - 1).value).toBe(0);
    expect(heldAt(state, window, ts + 2 * MINUTE).value).toBe(60);
  });

  it("months and days of a time zone, too", () => {
    // 4 October 2024.
    const state = observed(null, month, 0, 40 * DAY)!;
    expect(state).toEqual({ used: CLOSED, ts: Date.UTC(2024, 11, 1) });
    expect(heldAt(state, month, state.ts - 1).value).toBe(0);
    expect(heldAt(state, month, state.ts)).toEqual({ value: 60, ts: state.ts });
    const zone = withCalendar({ ...window, period: "day", timeZone: "Europe/Berlin" } as Bucket);
    const days = observed(null, zone, 0, 36 * HOUR)!;
    expect(heldAt(days, zone, NOW + 36 * HOUR - 1).value).toBe(0);
    expect(heldAt(days, zone, NOW + 3 * DAY).value).toBe(60);
  });
});

/** With months and zones, which `anyConfig` leaves out. */
const anyBucket: fc.Arbitrary<Bucket> = fc.oneof(
  { weight: 6, arbitrary: anyConfig },
  {
    weight: 1,
    arbitrary: fc
      .record({
        rate: fc.constantFrom(1, 60, 1 / 3),
        carried: fc.constantFrom(1, 2.5),
        period: fc.constantFrom("day" as const, "week" as const, "month" as const),
        timeZone: fc.constantFrom(undefined, "Europe/Berlin", "America/New_York", "Asia/Kolkata"),
      })
      .map(({ rate, carried, period, timeZone }) => {
        const config = { kind: "fixed window" as const, rate, capacity: rate * carried, period };
        const isUtc = timeZone === undefined && period === "month";
        return isUtc
          ? ({ ...config, start: Date.UTC(2019, 0, 31) } as Bucket)
          : withCalendar({ ...config, timeZone: timeZone ?? "UTC" } as Bucket);
      }),
  },
);

const WAITS = [0, 1, 20, SECOND, MINUTE, HOUR, 31 * DAY];

const anyCase = fc
  .tuple(anyBucket, anyNow, fc.constantFrom(1, 2, 5))
  .chain(([whole, now, shards]) => {
    const config: Bucket = whole.windows ? whole : { ...whole, shards };
    const count = whole.windows ? 1 : shards;
    const part = shardConfig(config);
    const most = capacityOf(config);
    return fc.record({
      part: fc.constant(part),
      now: fc.constant(now),
      rows: fc.array(
        anyRow(part, now).map((row) => {
          // The row of a window is its start.
          if (row === null || part.kind !== "fixed window") return row;
          return { used: row.used, ts: heldAt(null, part, row.ts).ts };
        }),
        { minLength: count, maxLength: count },
      ),
      remaining: fc.oneof(fc.constantFrom(0, 1, most, 2 * most), between(0, 1.5 * most)),
      until: fc.constantFrom(...WAITS).map((wait) => now + wait),
    });
  });

/** The rows after what was observed. */
function after({ rows, part, now, remaining, until }: CaseOf): Row[] {
  const next = observedRows(rows, part, now, remaining, until);
  return rows.map((row, i) => next[i] ?? row);
}
type CaseOf = typeof anyCase extends fc.Arbitrary<infer T> ? T : never;

const RUNS = { numRuns: 2000 };

describe("whatever is observed", () => {
  it("no row ever holds more than before, now or later", () => {
    fc.assert(
      fc.property(anyCase, fc.integer({ min: 0, max: 400 }), (one, tenths) => {
        const later = one.now + (tenths / 100) * longestPeriod(one.part);
        for (const [i, row] of after(one).entries()) {
          const before = heldAt(one.rows[i], one.part, later);
          const now = heldAt(row, one.part, later);
          // A row that is closed shows nothing, and no debt. A debt of a rounding error ends with it.
          const isClosed = row?.used === CLOSED && later < row.ts;
          const most = isClosed ? Math.max(0, before.value) : before.value;
          const error = toleranceOf(one.part) + Number.EPSILON * capacityOf(one.part);
          expect(now.value).toBeLessThanOrEqual(most + error);
          // Of a closed row, that is the instant or the window before it opens.
          expect(now.ts).toBeGreaterThanOrEqual(before.ts);
        }
      }),
      RUNS,
    );
  });

  it("the rows hold what remains if they held more, and what they held if not, debts aside", () => {
    fc.assert(
      fc.property(anyCase, (one) => {
        const sum = (rows: readonly Row[]) =>
          rows.reduce((all, row) => all + Math.max(0, heldAt(row, one.part, one.now).value), 0);
        fc.pre(one.remaining > 0 || one.until === one.now);
        const expected = Math.min(sum(one.rows), one.remaining);
        const error =
          1e-12 * Math.max(1, one.remaining, ...one.rows.map((r) => Math.abs(r?.used ?? 0)));
        expect(Math.abs(sum(after(one)) - expected)).toBeLessThanOrEqual(error * 10);
      }),
      RUNS,
    );
  });

  it("a call for what remains passes if it did before, and one for more does not", () => {
    fc.assert(
      fc.property(anyCase, (one) => {
        fc.pre(one.rows.length <= 2 && one.remaining > 1e-3);
        const { part, now, remaining } = one;
        const passes = (rows: readonly Row[], count: number) =>
          rows.length === 1
            ? decideRateLimit(rows[0]!, part, now, count).result.ok
            : decideShardPair(rows as [Row, Row], part, now, count).result.ok;
        // Sums are rounded.
        const lessThanAll = remaining * (1 - 1e-9);
        if (passes(one.rows, remaining)) expect(passes(after(one), lessThanAll)).toBe(true);
        expect(passes(after(one), remaining * (1 + 1e-6) + 1e-6)).toBe(false);
      }),
      RUNS,
    );
  });

  it("no call passes before the end of a wait, where nothing remains", () => {
    fc.assert(
      fc.property(anyCase, fc.double({ min: 0, max: 0.999, noNaN: true }), (one, part) => {
        fc.pre(one.until - one.now >= 1000 && capacityOf(one.part) > 0);
        const at = Math.floor(one.now + part * (one.until - one.now));
        const count = capacityOf(one.part) / 1000;
        for (const row of after({ ...one, remaining: 0 })) {
          expect(decideRateLimit(row, one.part, at, count).result.ok).toBe(false);
        }
      }),
      RUNS,
    );
  });

  it("is the same when it is heard twice, and in any order", () => {
    fc.assert(
      fc.property(anyCase, fc.nat(100), (one, percent) => {
        // The shares of several rows are rounded.
        fc.pre(one.rows.length === 1);
        const rows = after(one);
        expect(after({ ...one, rows })).toEqual(rows);
        const less = { ...one, remaining: (one.remaining * percent) / 100 };
        expect(after({ ...less, rows })).toEqual(after({ ...one, rows: after(less) }));
      }),
      RUNS,
    );
  });
});
