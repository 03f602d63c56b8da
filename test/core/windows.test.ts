/** Calendar months as windows: they follow the billing date, whatever the length of the month. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculateRateLimit } from "../../core/calculate.js";
import { heldAt } from "../../core/rows/reading.js";
import type { FixedWindowConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY } from "../../core/durations.js";
import { refundTaken, type TakenTokens } from "../../core/refund.js";
import { rowOfTokens } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { windowAfter, windowAt, windowsSince } from "../../core/windows.js";
import { cases } from "../support/cases.js";

const monthly = (start: number): FixedWindowConfig => {
  return { kind: "fixed window", rate: 10, period: "month", start };
};
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);
const startsAfter = (start: string, count: number): string[] => {
  const config = monthly(Date.parse(start));
  const from = windowAt(config, config.start!);
  return Array.from({ length: count }, (_, i) => iso(windowAfter(config, from, i + 1)));
};

describe("a window of a month", () => {
  it("falls on the last day of a month that lacks its day, and returns to its day", () => {
    expect(startsAfter("2027-12-31T00:00Z", 5)).toEqual([
      "2028-01-31T00:00",
      "2028-02-29T00:00",
      "2028-03-31T00:00",
      "2028-04-30T00:00",
      "2028-05-31T00:00",
    ]);
    expect(startsAfter("2027-01-30T00:00Z", 2)).toEqual(["2027-02-28T00:00", "2027-03-30T00:00"]);
  });

  it("starts at the time of day of its start, across a new year", () => {
    expect(startsAfter("2029-11-15T13:45Z", 3)).toEqual([
      "2029-12-15T13:45",
      "2030-01-15T13:45",
      "2030-02-15T13:45",
    ]);
  });

  it("returns to 29 February in leap years only", () => {
    const config = monthly(Date.UTC(2028, 1, 29));
    expect(iso(windowAt(config, Date.UTC(2029, 2, 1)))).toBe("2029-02-28T00:00");
    expect(iso(windowAt(config, Date.UTC(2032, 2, 1)))).toBe("2032-02-29T00:00");
    expect(iso(windowAt(config, Date.UTC(2100, 2, 1)))).toBe("2100-02-28T00:00");
  });

  it("exists before its start, too", () => {
    const config = monthly(Date.UTC(2030, 0, 31));
    expect(iso(windowAt(config, Date.UTC(2028, 1, 10)))).toBe("2028-01-31T00:00");
    expect(iso(windowAt(config, Date.UTC(1968, 1, 29)))).toBe("1968-02-29T00:00");
  });

  it("with start 0 is the month of the calendar", () => {
    expect(iso(windowAt(monthly(0), Date.UTC(2031, 6, 19)))).toBe("2031-07-01T00:00");
  });

  it("is named by the row, and the next month is not counted from it but from the start", () => {
    const config = monthly(Date.UTC(2027, 0, 31));
    const row = { value: 0, ts: Date.UTC(2027, 1, 28) };
    const now = Date.UTC(2027, 2, 30);
    const { ts, windowStart, retryAfter } = calculateRateLimit(row, config, now, 1);
    expect([ts, windowStart]).toEqual([row.ts, row.ts]);
    expect(iso(now + retryAfter!)).toBe("2027-03-31T00:00");
    expect(calculateRateLimit(null, config, now).windowStart).toBe(config.start);
  });

  const anyDay = fc.integer({ min: -3e12, max: 6e12 });

  it("contains its instant, and follows the one before", () => {
    fc.assert(
      fc.property(anyDay, anyDay, fc.integer({ min: 1, max: 600 }), (start, now, count) => {
        const config = monthly(start);
        const from = windowAt(config, now);
        const next = windowAfter(config, from, 1);
        expect(from).toBeLessThanOrEqual(now);
        expect(next).toBeGreaterThan(now);
        expect((next - from) / DAY).toBeGreaterThanOrEqual(28);
        expect((next - from) / DAY).toBeLessThanOrEqual(31);
        const later = windowAfter(config, from, count);
        expect(windowsSince(config, from, later)).toBe(count);
        expect(windowsSince(config, from, later - 1)).toBe(count - 1);
        expect(windowAt(config, later)).toBe(later);
      }),
      { numRuns: cases(2000) },
    );
  });

  it("never takes time back: an instant before the row counts as the row's", () => {
    const config = monthly(Date.UTC(2028, 0, 31));
    const ts = Date.UTC(2028, 1, 29);
    expect(windowsSince(config, ts, ts - 400 * DAY)).toBe(0);
  });
});

describe("a limit per month", () => {
  it("says the exact ms at which a denied call passes", () => {
    const anyCall = fc.record({
      start: fc.integer({ min: 0, max: 4e12 }),
      now: fc.integer({ min: 1e12, max: 4e12 }),
      capacity: fc.integer({ min: 1, max: 40 }),
      value: fc.integer({ min: -60, max: 40 }),
    });
    fc.assert(
      fc.property(
        anyCall,
        fc.integer({ min: 1, max: 40 }),
        ({ start, now, capacity, value }, count) => {
          fc.pre(count <= capacity && value <= capacity);
          const config = { ...monthly(start), capacity };
          const row = rowOfTokens(config, { value, ts: windowAt(config, now) });
          const { result } = decideRateLimit(row, config, now, count);
          fc.pre(!result.ok);
          const at = (ms: number) => decideRateLimit(row, config, now + ms, count).result.ok;
          expect(at(result.retryAfter)).toBe(true);
          expect(at(result.retryAfter - 1)).toBe(false);
          expect(windowAt(config, now + result.retryAfter)).toBe(now + result.retryAfter);
        },
      ),
      { numRuns: cases(2000) },
    );
  });

  it("carries over what was not used, up to its capacity", () => {
    const config = { ...monthly(Date.UTC(2028, 0, 31)), capacity: 15 };
    const row = { used: 7, ts: Date.UTC(2028, 0, 31) };
    const { result, next } = decideRateLimit(row, config, Date.UTC(2028, 1, 29, 1), 15);
    expect(result).toMatchObject({ ok: true, value: 0 });
    expect(iso(next!.ts)).toBe("2028-02-29T00:00");
  });
});

describe("a limit per month whose start changes", () => {
  /** Takes all that there is, each day, by the start of that day. Returns the instants of grants. */
  function daily(days: number, startOf: (now: number, day: number) => number): number[] {
    const begin = Date.UTC(2030, 0, 1);
    let row: Row | null = null;
    const grants: number[] = [];
    for (let day = 0; day < days; day++) {
      const now = begin + day * DAY;
      const { next } = decideRateLimit(row, monthly(startOf(now, day)), now, 10);
      if (next === undefined) continue;
      grants.push(now);
      row = next;
    }
    return grants;
  }

  it("grants a month's tokens once per month, with a start of now at each call", () => {
    expect(daily(90, (now) => now)).toHaveLength(3);
  });

  it("grants a month's tokens once per month, with two billing dates in turns", () => {
    const dates = [Date.UTC(2027, 0, 1), Date.UTC(2027, 0, 15)];
    expect(daily(90, (_, day) => dates[day % 2]!)).toHaveLength(3);
  });

  it("keeps the windows of its row, on the day of the month that they have", () => {
    const row = { used: 10, ts: Date.UTC(2030, 0, 20) };
    for (const start of ["2027-01-05T00:00Z", "2027-01-20T00:00Z", "2027-01-31T00:00Z"]) {
      const config = monthly(Date.parse(start));
      const now = Date.UTC(2030, 0, 25);
      const { result } = decideRateLimit(row, config, now, 1);
      expect(iso(now + result.retryAfter!)).toBe("2030-02-20T00:00");
      expect(iso(windowAfter(config, row.ts, 3))).toBe("2030-04-20T00:00");
    }
  });

  it("never grants more than its capacity and its rate per month, whatever comes back", () => {
    const anyStep = fc.record({
      ms: fc.oneof(fc.integer({ min: 0, max: 70 * DAY }), fc.integer({ min: 0, max: 2 * DAY })),
      start: fc.integer({ min: 1e12, max: 2e12 }),
      isNow: fc.boolean(),
      back: fc.boolean(),
    });
    const monthOf = (ms: number) => {
      const date = new Date(ms);
      return 12 * date.getUTCFullYear() + date.getUTCMonth();
    };
    fc.assert(
      fc.property(
        fc.array(anyStep, { minLength: 2, maxLength: 40 }),
        fc.integer({ min: 1, max: 25 }),
        (steps, capacity) => {
          let now = Date.UTC(2030, 0, 1);
          let row: Row | null = null;
          let taken: TakenTokens | undefined;
          const grants: { now: number; count: number }[] = [];
          for (const { ms, start, isNow, back } of steps) {
            now += ms;
            const config = { ...monthly(isNow ? now : start), capacity };
            if (back && taken !== undefined) {
              const given = refundTaken([row], config, now, taken.count, [taken]);
              row = given.next[0] ?? row;
              // The call kept nothing.
              grants.at(-1)!.count = 0;
              taken = undefined;
              continue;
            }
            const count = Math.floor(heldAt(row, config, now).value);
            row = decideRateLimit(row, config, now, count).next!;
            taken = { ...row, count };
            grants.push({ now, count });
          }
          for (const [i, { now: from }] of grants.entries()) {
            // The last days of a month can be windows of one `start`, or of another one.
            const since = from - 3 * DAY;
            let granted = 0;
            for (const { now: to, count } of grants.slice(i)) {
              granted += count;
              const months = Math.min(monthOf(to) - monthOf(since), (to - since) / (28 * DAY));
              const allowed = capacity + 10 * (Math.floor(months) + 1);
              if (granted > allowed) {
                expect.fail(`${granted} from ${iso(from)} to ${iso(to)}, not ${allowed}`);
              }
            }
          }
        },
      ),
      { numRuns: cases(2000) },
    );
  });
});
