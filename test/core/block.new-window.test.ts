/** `afterBlock: "new window"`: a closed fixed window is full at the very end of its block. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculateRateLimit } from "../../core/calculate.js";
import { isFullAt, tokensOf, usedAt } from "../../core/rows/reading.js";
import type { FixedWindowConfig, RateLimitConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { refundTaken, type TakenTokens } from "../../core/refund.js";
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { cases } from "../support/cases.js";

const T = Date.UTC(2030, 0, 1);
const logIn = {
  kind: "fixed window",
  rate: 10,
  period: 90 * DAY,
  start: T,
  blockFor: HOUR,
  afterBlock: "new window",
} satisfies FixedWindowConfig;

/** Calls at instants, ms after `T`, on one row. */
function createRow(config: RateLimitConfig, row: Row | null = null) {
  return {
    state: () => row,
    call(ms: number, count = 1): number | "granted" {
      const { result, next } = decideRateLimit(row, config, T + ms, count);
      row = next ?? row;
      return result.ok ? "granted" : ms + result.retryAfter;
    },
  };
}

describe("a fixed window that begins anew after its block", () => {
  it("grants ten failures, closes for an hour, and grants ten more", () => {
    const row = createRow(logIn);
    for (const opensAt of [DAY + HOUR, DAY + 2 * HOUR, DAY + 3 * HOUR]) {
      const at = opensAt - HOUR;
      for (let i = 0; i < 10; i++) expect(row.call(at)).toBe("granted");
      expect(row.call(at)).toBe(opensAt);
      expect(row.call(at + MINUTE)).toBe(opensAt);
      expect(row.call(opensAt - 1)).toBe(opensAt);
    }
  });

  it("keeps the windows that begin at the end of the block", () => {
    const row = createRow(logIn, { used: 10, ts: T });
    row.call(DAY);
    for (let i = 0; i < 10; i++) expect(row.call(DAY + HOUR)).toBe("granted");
    const next = DAY + HOUR + 90 * DAY;
    const { retryAfter } = calculateRateLimit(
      tokensOf(row.state()!, logIn),
      logIn,
      T + 89 * DAY,
      1,
    );
    expect(89 * DAY + retryAfter!).toBe(next);
  });

  it("gives nothing back of what was taken before the block", () => {
    const first = decideRateLimit(null, logIn, T + DAY, 10);
    const closed = decideRateLimit(first.next!, logIn, T + DAY, 1).next!;
    const taken = { count: 10, ...first.next! };
    const reopened = decideRateLimit(closed, logIn, T + DAY + HOUR, 10).next!;
    for (const [row, ms] of [
      [closed, DAY + 1],
      [closed, DAY + HOUR],
      [reopened, DAY + HOUR],
      [reopened, 2 * DAY],
    ] as const) {
      const { refunded } = refundTaken([row], logIn, T + ms, 10, [taken]);
      expect(refunded).toEqual([0]);
    }
  });

  it("gives back what was taken in the same window", () => {
    const { next } = decideRateLimit(null, logIn, T + DAY, 4);
    const { refunded } = refundTaken([next!], logIn, T + 2 * DAY, 4, [{ count: 4, ...next! }]);
    expect(refunded).toEqual([4]);
  });
});

const anyWindow = fc
  .record({
    rate: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.double({ min: 1, max: 40, noNaN: true })),
    share: fc.constantFrom(0.5, 1, 1, 3),
    period: fc.oneof(fc.integer({ min: 1, max: 1e6 }), fc.constantFrom(HOUR, 90 * DAY)),
    blockFor: fc.oneof(fc.integer({ min: 1, max: 1e7 }), fc.constantFrom(MINUTE, HOUR, DAY)),
    start: fc.integer({ min: -1e9, max: 1e9 }),
  })
  .map(({ share, ...rest }): FixedWindowConfig & { period: number; blockFor: number } => ({
    kind: "fixed window",
    capacity: rest.rate * share,
    afterBlock: "new window",
    ...rest,
  }));

it("grants nothing in a block and one window's tokens right after it, whatever the numbers", () => {
  fc.assert(
    fc.property(
      anyWindow,
      fc.integer({ min: 0, max: 1e9 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
      fc.constantFrom(0, 0, 0.5),
      (config, at, moments, fraction) => {
        const { blockFor, rate, capacity = rate } = config;
        const now = T + at + fraction;
        const empty = { used: capacity, ts: usedAt(null, config, now).ts };
        const count = Math.min(rate, capacity);
        const { result, next } = decideRateLimit(empty, config, now, count);
        const open = Math.ceil(now + blockFor);
        expect(result).toEqual({ ok: false, retryAfter: Math.ceil(open - now), value: 0 });
        expect(next).toEqual({ used: CLOSED, ts: open });
        for (const moment of [...moments, 1]) {
          const later = now + Math.floor(moment * (blockFor - 1));
          const denied = decideRateLimit(next!, config, later, count);
          expect(denied.next).toBeUndefined();
          expect(denied.result.ok).toBe(false);
          // The page's prediction, and the end of the block, stay what they were.
          const wait = Math.ceil(open - later);
          expect(denied.result).toEqual({ ok: false, retryAfter: wait, value: 0 });
          const shown = calculateRateLimit(tokensOf(next!, config), config, later, count);
          expect(shown.retryAfter).toBe(wait);
          expect(isFullAt(next!, config, later)).toBe(false);
        }
        const reopened = decideRateLimit(next!, config, open, count);
        expect(reopened.result.ok).toBe(true);
        // All of it, and no more.
        expect(reopened.result).toMatchObject({ value: expect.closeTo(0, 9) });
      },
    ),
    { numRuns: cases(5000) },
  );
});

it("never grants more than a window's tokens per block and per window", () => {
  const anySteps = fc.array(
    fc.record({
      wait: fc.integer({ min: 0, max: 400 }),
      count: fc.integer({ min: 1, max: 5 }),
      back: fc.boolean(),
    }),
    { minLength: 20, maxLength: 80 },
  );
  const anyConfig = fc.record({
    rate: fc.integer({ min: 5, max: 10 }),
    period: fc.integer({ min: 20, max: 3000 }),
    blockFor: fc.integer({ min: 20, max: 3000 }),
  });
  fc.assert(
    fc.property(anyConfig, anySteps, (numbers, steps) => {
      const config = { ...logIn, ...numbers };
      const shortest = Math.min(config.period, config.blockFor);
      let row: Row | null = null;
      let now = T;
      let kept = 0;
      const taken: TakenTokens[] = [];
      for (const { wait, count, back } of steps) {
        now += wait;
        if (back && taken.length > 0) {
          const last = taken.shift()!;
          const { next, refunded } = refundTaken([row], config, now, last.count, [last]);
          row = next[0] ?? row;
          kept -= refunded[0]!;
        }
        const { result, next } = decideRateLimit(row, config, now, count);
        row = next ?? row;
        if (!result.ok) continue;
        kept += count;
        taken.push({ count, ...next! });
      }
      const windows = 1 + Math.ceil((now - T) / shortest);
      expect(kept).toBeLessThanOrEqual(windows * config.rate);
    }),
    { numRuns: cases(2000) },
  );
});
