/** The claims of `limitFirst`, on states that a test chooses. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokensOf } from "../../../../core/rows/reading.js";
import { rowOfTokens } from "../../../../core/rows/bucket.js";
import { bucketConfig } from "../../../../core/rows/credits.js";
import { DAY, MINUTE } from "../../../../core/durations.js";
import { eachOf, firstOf, Payer } from "../../../../server/limiter/claims/first-of.js";
import { ClaimDecision } from "../../../../server/limiter/claims/draft.js";
import type { LimitRequest } from "../../../../server/limiter/limits/limit-request.js";
import { resolveLimit } from "../../../../server/limiter/limits/resolved-limit.js";
import { cases } from "../../../support/cases.js";

const NOW = 10 * DAY;
const plan = { kind: "token bucket", rate: 10, period: MINUTE } as const;
const credits = bucketConfig({ kind: "credits" });
const CONFIGS = [plan, credits, plan];
/** The row of a limit that has these tokens left. */
const rowOf = (value: number, i: number) => rowOfTokens(CONFIGS[i]!, { value, ts: NOW });

function requests(count: number): LimitRequest[] {
  return CONFIGS.map((config, i) => {
    const limit = resolveLimit(`limit ${i}`, "k", "k", config);
    return { limit, count, reserve: false, maxWait: undefined };
  });
}

function decide(values: readonly (number | null)[], count: number, split: boolean) {
  const payers = requests(count).map((request) => new Payer(request, request.limit.rows));
  const claim = split ? eachOf(payers, count) : firstOf(payers);
  const states = values.map((value, i) => (value === null ? null : rowOf(value, i)));
  return new ClaimDecision(claim, () => NOW).decide(states);
}

describe("the claim of limitFirst", () => {
  it("guards what was asked in vain, and nothing after the last payer", () => {
    const { result, writes } = decide([1, 9, 5], 4, false);
    expect(result.asked).toMatchObject([{ result: { ok: false } }, { paid: 4 }]);
    expect(writes).toEqual([rowOf(1, 0), rowOf(5, 1), undefined]);
    // That a balance is missing says as much as that it is 0.
    const both = decide([0.5, null, 5], 3, true);
    expect(both.writes).toEqual([rowOf(0.5, 0), null, rowOf(2, 2)]);
  });

  it("writes nothing for a call that is denied, or that takes nothing", () => {
    for (const [count, split, ok] of [
      [4, true, false],
      [4, false, false],
      [0, false, true],
    ] as const) {
      const { result, writes } = decide([1, 1, 1], count, split);
      expect([result.ok, writes]).toEqual([ok, undefined]);
    }
  });

  it("takes the whole count or nothing, leaves no limit below zero, and asks in order", () => {
    const anyValue = fc.option(fc.integer({ min: -3, max: 10 }));
    fc.assert(
      fc.property(
        fc.tuple(anyValue, anyValue, anyValue),
        fc.integer({ min: 1, max: 10 }),
        fc.boolean(),
        (values, count, split) => {
          const { result, writes } = decide(values, count, split);
          const held = values.map((value, i) => value ?? (i === 1 ? 0 : plan.rate));
          const able = held.map((value) => Math.max(0, value));
          const total = able.reduce((sum, value) => sum + value, 0);
          expect(result.ok).toBe(split ? total >= count : Math.max(...able) >= count);
          if (!result.ok) return;
          const paid = result.asked.map((asked) => asked.paid ?? 0);
          expect(paid.reduce((sum, each) => sum + each, 0)).toBe(count);
          for (const [i, each] of paid.entries()) {
            const row = writes![i];
            const left = row ? tokensOf(row, CONFIGS[i]!).value : held[i]!;
            expect(left).toBe(held[i]! - each);
            if (each > 0) expect(left).toBeGreaterThanOrEqual(0);
            // Only the last one that pays may have more than it gave.
            if (split && i < paid.length - 1) expect(each).toBe(able[i]);
          }
        },
      ),
      { numRuns: cases(2000) },
    );
  });
});
