/** Limits of a time zone: their arithmetic, a caller who changes the zone, and what a page receives. */
import type { WindowBucket } from "../../core/config.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldAt, tokensOf, waitFor } from "../../core/rows/reading.js";
import { chargeRows } from "../../core/charge.js";
import type { FixedWindowConfig } from "../../core/limit-config.js";
import { decideRateLimit, type RateLimitResult } from "../../core/decide.js";
import { DAY, HOUR } from "../../core/durations.js";
import { calculateRateLimit, type RateLimitConfig } from "../../core/index.js";
import { refundTaken, type TakenTokens } from "../../core/refund.js";
import { rowOfTokens } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { shownState, withCalendar, shownConfig } from "../../core/with-calendar.js";
import { cases } from "../support/cases.js";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "Asia/Tokyo",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kiritimati",
];
const of = (timeZone: string, options: Partial<FixedWindowConfig> = {}): WindowBucket => {
  const config: FixedWindowConfig = { kind: "fixed window", rate: 3, period: "day", timeZone };
  return withCalendar({ ...config, ...options } as FixedWindowConfig) as WindowBucket;
};
const anyZone = fc.constantFrom(...ZONES);
const anyPeriod = fc.constantFrom("day", "week", "month");
/** The shortest windows after 2012, and a little less. */
const SHORTEST = { day: 22 * HOUR, week: 7 * DAY - 3 * HOUR, month: 28 * DAY - 3 * HOUR };

describe("a limit of a time zone", () => {
  it("is full again with the first instant of its next day, week or month", () => {
    const now = Date.parse("2030-03-30T12:00Z");
    const waits = (["day", "week", "month"] as const).map((period) => {
      const config: RateLimitConfig = {
        kind: "fixed window",
        rate: 1,
        period,
        timeZone: "Europe/Berlin",
      };
      const { retryAfter } = calculateRateLimit(
        calculateRateLimit(null, config, now, 1),
        config,
        now,
        1,
      );
      return new Date(now + retryAfter!).toISOString().slice(0, 16);
    });
    expect(waits).toEqual(["2030-03-30T23:00", "2030-03-31T22:00", "2030-03-31T22:00"]);
  });

  it("is in UTC unless it says a zone, and its weeks start on Monday", () => {
    const config: RateLimitConfig = { kind: "fixed window", rate: 1, period: "week" };
    const { windowStart } = calculateRateLimit(null, config, Date.parse("2030-03-30T12:00Z"));
    expect(new Date(windowStart!).toISOString()).toBe("2030-03-25T00:00:00.000Z");
  });

  it("tells exactly the wait after which a denied call passes", () => {
    fc.assert(
      fc.property(
        anyZone,
        anyPeriod,
        fc.integer({ min: Date.UTC(2013), max: Date.UTC(2060) }),
        fc.integer({ min: 0, max: 400 * DAY }),
        fc.integer({ min: -10, max: 2 }),
        fc.integer({ min: 1, max: 5 }),
        (timeZone, period, ts, later, value, count) => {
          const config = of(timeZone, { period, capacity: 5 });
          const passes = (at: number) =>
            decideRateLimit(rowOfTokens(config, { value, ts }), config, at, count);
          const now = ts + later;
          const { result } = passes(now);
          if (result.ok) return;
          expect(passes(now + result.retryAfter - 1).result.ok).toBe(false);
          expect(passes(now + result.retryAfter).result.ok).toBe(true);
        },
      ),
    );
  });

  it("never refills early, however often a caller changes zones", () => {
    const step = fc.tuple(
      anyZone,
      fc.oneof(fc.integer({ min: 0, max: 60 * HOUR }), fc.constantFrom(HOUR, 11 * HOUR, DAY)),
      fc.integer({ min: 1, max: 3 }),
    );
    fc.assert(
      fc.property(anyPeriod, fc.array(step, { minLength: 10, maxLength: 80 }), (period, steps) => {
        const scale = period === "day" ? 1 : period === "week" ? 4 : 12;
        const grants: [at: number, count: number][] = [];
        let row: Row | null = null;
        let now = Date.UTC(2030, 2, 20);
        for (const [timeZone, wait, count] of steps) {
          now += wait * scale;
          const { result, next } = decideRateLimit(row, of(timeZone, { period }), now, count);
          if (!result.ok) continue;
          row = next!;
          grants.push([now, count]);
        }
        for (const [i, [from]] of grants.entries()) {
          let sum = 0;
          for (const [at, count] of grants.slice(i)) {
            sum += count;
            // A full bucket, what comes with each window that can start meanwhile, and one window's
            // tokens that had come before, but not in the zone of the first of these calls.
            const windows = Math.floor((at - from) / SHORTEST[period]) + 2;
            expect(sum).toBeLessThanOrEqual(3 + 3 * windows);
          }
        }
      }),
      { numRuns: cases(300) },
    );
  });

  it("does not refill in less than a window in two zones in turns", () => {
    const [berlin, tokyo] = [of("Europe/Berlin"), of("Asia/Tokyo")];
    let row: Row | null = null;
    const granted: number[] = [];
    for (let hour = 0; hour < 20 * 24; hour++) {
      const now = Date.UTC(2030, 0, 1) + hour * HOUR;
      const { result, next } = decideRateLimit(row, hour % 2 ? berlin : tokyo, now, 3);
      if (result.ok) [row] = [next!, granted.push(now)];
    }
    const gaps = granted.slice(2).map((at, i) => at - granted[i + 1]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DAY);
    expect(granted.length).toBeGreaterThan(9);
  });

  it("gives back no more than the windows since then have left, also in another zone", () => {
    const step = fc.record({
      zone: anyZone,
      wait: fc.integer({ min: 0, max: 40 * HOUR }),
      count: fc.integer({ min: 1, max: 6 }),
      givesBack: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 50 }), (steps) => {
        let row: Row | null = null;
        let now = Date.UTC(2030, 9, 20);
        const used: [at: number, count: number][] = [];
        const open: (TakenTokens & { entry: [number, number] })[] = [];
        for (const { zone, wait, count, givesBack } of steps) {
          now += wait;
          const config = of(zone, { capacity: 6 });
          const taken = givesBack ? open.pop() : undefined;
          if (taken !== undefined) {
            const { next, refunded } = refundTaken([row], config, now, taken.count, [taken]);
            row = next[0] ?? row;
            taken.entry[1] -= refunded[0]!;
            continue;
          }
          const { result, next } = decideRateLimit(row, config, now, count);
          if (!result.ok) continue;
          row = next!;
          const entry: [number, number] = [now, count];
          used.push(entry);
          open.push({ ...next!, count, entry });
        }
        for (const [i, [from]] of used.entries()) {
          let sum = 0;
          for (const [at, count] of used.slice(i)) {
            sum += count;
            const windows = Math.floor((at - from) / SHORTEST.day) + 2;
            expect(sum).toBeLessThanOrEqual(6 + 3 * windows);
          }
        }
      }),
      { numRuns: cases(300) },
    );
  });
});

const shown = ({ ok, value, retryAfter }: RateLimitResult) => ({ ok, value, retryAfter });

describe("what a page gets of such a limit", () => {
  it("gives the server's answers until the bucket is full, and a few windows longer", () => {
    const at = fc.integer({ min: Date.UTC(2013), max: Date.UTC(2060) });
    const call = fc.tuple(fc.integer({ min: 0, max: 30 * HOUR }), fc.integer({ min: 1, max: 4 }));
    fc.assert(
      fc.property(
        anyZone,
        anyPeriod,
        at,
        fc.integer({ min: 0, max: 70 * HOUR }),
        fc.integer({ min: -7, max: 4 }),
        fc.array(call, { maxLength: 4 }),
        (timeZone, period, ts, later, value, calls) => {
          const server = of(timeZone, { period, capacity: 4 });
          const sent = ts + later;
          let row = rowOfTokens(server, { value, ts });
          const sentState = shownState(tokensOf(row, server), server, sent);
          const config = shownConfig(server, sentState.value, sent);
          let page = rowOfTokens(config, sentState);
          expect(JSON.parse(JSON.stringify(config))).toEqual(config);
          let now = sent;
          for (const [wait, count] of calls) {
            now += wait;
            const [answer, predicted] = [
              decideRateLimit(row, server, now, count),
              decideRateLimit(page, config, now, count),
            ];
            expect(shown(predicted.result)).toEqual(shown(answer.result));
            [row, page] = [answer.next ?? row, predicted.next ?? page];
          }
          expect(heldAt(page, config, now).value).toBe(heldAt(row, server, now).value);
        },
      ),
      { numRuns: cases(500) },
    );
  });

  it("tells when a bucket opens that is closed for longer than it takes to fill", () => {
    const config = of("Europe/Berlin", { blockFor: 40 * DAY });
    const now = Date.UTC(2030, 0, 1, 12);
    const row = decideRateLimit({ used: 3, ts: Date.UTC(2029, 11, 31, 23) }, config, now, 1).next!;
    const state = shownState(tokensOf(row, config), config, now);
    const page = shownConfig(config, state.value, now, state.ts);
    const { value, retryAfter } = calculateRateLimit(state, page, now, 1);
    expect({ value, opens: now + retryAfter! }).toEqual({ value: -1, opens: row.ts });
    expect(calculateRateLimit(state, page, row.ts, 1).value).toBe(2);
  });

  it("is a bounded list, whatever is owed", () => {
    const config = of("Europe/Berlin");
    const now = Date.UTC(2030, 0, 1);
    const [owing] = chargeRows([null], config, now, 1e6).next;
    const { starts } = shownConfig(config, heldAt(owing, config, now).value, now);
    expect(starts).toHaveLength(1000);
    expect(waitFor(owing!, config, now, 0, 0)).toBeGreaterThan(300_000 * DAY);
    expect(heldAt(owing!, config, now + 400_000 * DAY).value).toBe(3);
  });
});
