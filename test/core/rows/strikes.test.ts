/** Closings that grow, step by step, for any list. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isFullAt } from "../../../core/rows/reading.js";
import { decideRateLimit } from "../../../core/decide.js";
import { HOUR, MINUTE, SECOND } from "../../../core/durations.js";
import type { Row } from "../../../core/rows/row.js";
import { strikesConfig, struckRow, withNextBlock } from "../../../core/rows/strikes.js";
import { cases } from "../../support/cases.js";

const anyList = fc
  .array(fc.integer({ min: 1, max: 2 * HOUR }), { minLength: 1, maxLength: 5 })
  .map((list) => list.sort((a, b) => a - b));
const anyLimit = fc.record({
  kind: fc.constantFrom("token bucket" as const, "fixed window" as const),
  blockFor: anyList,
  forgiveAfter: fc.option(fc.integer({ min: 1, max: 3 * HOUR }), { nil: undefined }),
});
/** How long the caller waits after each opening, ms. */
const anyPauses = fc.array(fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 4 * HOUR })), {
  minLength: 1,
  maxLength: 8,
});

it("closes for the next entry of the list, and for the first one after a quiet time", () => {
  fc.assert(
    fc.property(anyLimit, anyPauses, ({ forgiveAfter, ...limit }, pauses) => {
      const config = {
        ...limit,
        rate: 1,
        period: limit.kind === "token bucket" ? SECOND : MINUTE,
        ...(limit.kind === "fixed window" && { start: 0 }),
        ...(forgiveAfter !== undefined && { forgiveAfter }),
      } as Parameters<typeof withNextBlock>[0];
      const quiet = forgiveAfter ?? limit.blockFor.at(-1)!;
      let row: Row | null = null;
      let strikes: Row | null = null;
      let now = 1e12;
      let counted = 0;
      let opened = -Infinity;
      for (const pause of pauses) {
        now += pause;
        // A grant, and then a denial.
        const granted = decideRateLimit(row, config, now, 1);
        if (!granted.result.ok) now += granted.result.retryAfter;
        row = decideRateLimit(row, config, now, 1).next!;
        if (now >= opened + quiet) counted = 0;
        const closing = withNextBlock(config, strikes, now);
        expect(closing.blockFor).toBe(limit.blockFor[Math.min(counted, limit.blockFor.length - 1)]);
        const { result, next } = decideRateLimit(row, closing, now, 1);
        expect(result.ok).toBe(false);
        strikes = struckRow(config, strikes, now, next!);
        row = next!;
        counted = Math.min(counted + 1, limit.blockFor.length);
        opened = strikes.ts;
        expect(opened).toBeGreaterThanOrEqual(now + Number(closing.blockFor));
        // What says nothing more is full, and not a ms earlier.
        const counting = strikesConfig(config)!;
        expect(isFullAt(strikes, counting, opened + quiet - 1)).toBe(false);
        expect(isFullAt(strikes, counting, opened + quiet)).toBe(true);
        now = opened;
      }
    }),
    { numRuns: cases(1000) },
  );
});

/** A row that has counted so many closings, under these lists in turn. */
function closedUnder(lists: readonly (readonly number[])[]) {
  let strikes: Row | null = null;
  const lengths: number[] = [];
  let now = 1e12;
  for (const blockFor of lists) {
    const config = { kind: "token bucket", rate: 1, period: SECOND, blockFor, ...PATIENT } as const;
    const closing = withNextBlock(config, strikes, now);
    lengths.push(closing.blockFor as unknown as number);
    const { next } = decideRateLimit({ used: 1, ts: now }, closing, now, 1);
    strikes = struckRow(config, strikes, now, next!);
    now = strikes.ts;
  }
  return { lengths, strikes, now };
}

const PATIENT = { forgiveAfter: 30 * 24 * HOUR };
const SHORT = [SECOND, 2 * SECOND];
const LONG = [SECOND, 2 * SECOND, HOUR, 24 * HOUR];

it("counts on where the list has become longer or shorter since", () => {
  expect(closedUnder([SHORT, SHORT, LONG, LONG]).lengths).toEqual(LONG);
  expect(closedUnder([LONG, SHORT, SHORT, LONG]).lengths).toEqual([SECOND, 2000, 2000, 24 * HOUR]);
  expect(closedUnder([LONG, LONG, LONG, SHORT]).lengths).toEqual([SECOND, 2000, HOUR, 2000]);
  const many = Array.from({ length: 300 }, () => SHORT);
  expect(closedUnder([...many, LONG, SHORT]).lengths.slice(-2)).toEqual([24 * HOUR, 2000]);
});

it("says how many closings it has counted, and when the last one ends", () => {
  const { strikes, now } = closedUnder([SHORT, SHORT, LONG]);
  expect(strikes).toEqual({ used: 3, ts: now });
});
