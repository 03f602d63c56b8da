/** Claims for as many tokens as fit, against a model of a few lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../../../core/durations.js";
import { rowOfTokens } from "../../../../core/rows/bucket.js";
import { bucketConfig } from "../../../../core/rows/credits.js";
import { heldAt } from "../../../../core/rows/reading.js";
import type { Row } from "../../../../core/rows/row.js";
import { AsManyClaim } from "../../../../server/limiter/claims/as-many.js";
import { ClaimDecision } from "../../../../server/limiter/claims/draft.js";
import { resolveLimit } from "../../../../server/limiter/limits/resolved-limit.js";
import { cases } from "../../../support/cases.js";

const NOW = 10 * DAY;
const CONFIGS = [
  { kind: "token bucket", rate: 7, period: MINUTE, capacity: 11 },
  { kind: "token bucket", rate: 1 / 3, period: MINUTE, capacity: 11 },
  { kind: "fixed window", rate: 7, period: MINUTE, capacity: 11, start: 0 },
  bucketConfig({ kind: "credits" }),
] as const;

const LIMITS = CONFIGS.map((config, i) => resolveLimit(`limit ${i}`, "k", "k", config));

function decide(limit: (typeof LIMITS)[number], row: Row | null, now: number, call: Call) {
  const request = { limit, ...call, wanted: call.count, reserve: false, maxWait: undefined };
  return new ClaimDecision(new AsManyClaim(request, limit.rows), () => now).decide([row]);
}

interface Call {
  count: number;
  atLeast: number;
}

const thirds = fc.integer({ min: 1, max: 40 }).map((count) => count / 3);
const whole = fc.integer({ min: 1, max: 20 });
const call = fc.oneof(
  fc.tuple(whole, whole).map(([a, b]) => ({ count: Math.max(a, b), atLeast: Math.min(a, b) })),
  fc.tuple(thirds, thirds).map(([a, b]) => ({ count: Math.max(a, b), atLeast: Math.min(a, b) })),
);

describe("a claim for as many tokens as fit", () => {
  it("grants what the model grants, and leaves the rest", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...LIMITS),
        fc.integer({ min: -4 * 6, max: 11 * 6 }),
        fc.integer({ min: 0, max: 90_000 }),
        call,
        (limit, sixths, elapsed, { count, atLeast }) => {
          const { part } = limit;
          const row = rowOfTokens(part, { value: sixths / 6, ts: NOW });
          const now = NOW + elapsed;
          const { value } = heldAt(row, part, now);
          const { result, writes } = decide(limit, row, now, { count, atLeast });
          // The model: tokens are compared to a billionth.
          const there = Number.isInteger(count) && Number.isInteger(atLeast) ? Math.floor : Number;
          const granted = Math.min(count, there(value + 1e-9));
          expect(result.ok).toBe(granted >= atLeast - 1e-9);
          if (!result.ok) {
            expect(writes).toBeUndefined();
            return;
          }
          expect(result.granted).toBeCloseTo(granted, 8);
          if (there === Math.floor) expect(Number.isInteger(result.granted)).toBe(true);
          expect(heldAt(writes![0]!, part, now).value).toBeCloseTo(value - granted, 8);
        },
      ),
      { numRuns: cases(20_000) },
    );
  });

  it("tells a denied call the first ms at which it passes", () => {
    const refilling = LIMITS.slice(0, 3);
    fc.assert(
      fc.property(
        fc.constantFrom(...refilling),
        fc.integer({ min: -4 * 6, max: 11 * 6 }),
        call.filter(({ atLeast }) => atLeast <= 11),
        (limit, sixths, wanted) => {
          const row = rowOfTokens(limit.part, { value: sixths / 6, ts: NOW });
          const { result } = decide(limit, row, NOW, wanted);
          if (result.ok) return;
          const at = (now: number) => decide(limit, row, now, wanted).result.ok;
          expect([at(NOW + result.retryAfter - 1), at(NOW + result.retryAfter)]).toEqual([
            false,
            true,
          ]);
        },
      ),
      { numRuns: cases(10_000) },
    );
  });
});
