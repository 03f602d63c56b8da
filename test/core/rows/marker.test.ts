/** What follows from a marker: the first answer, as long as it is remembered. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { decideRateLimit } from "../../../core/decide.js";
import { answerAgain, markerOf, wasCharged } from "../../../core/rows/marker.js";
import { DAY } from "../../../core/durations.js";
import { anyCall } from "../arbitraries.js";
import { cases } from "../../support/cases.js";

const later = fc.oneof(fc.constantFrom(0, 1, DAY), fc.integer({ min: 0, max: 400 * DAY }));

it("is the first answer again, and the wait of a reservation ends at the same instant", () => {
  fc.assert(
    fc.property(anyCall, later, ({ config, existing, now, count, reserve }, ms) => {
      const { result, next } = decideRateLimit(existing, config, now, count, reserve);
      fc.pre(result.ok && (existing === null || existing.ts <= now));
      // A marker holds fewer tokens than that.
      fc.pre(Math.abs(result.value) < 2 ** 62);
      const marker = markerOf(result, now);
      const again = answerAgain(marker, next, config, now + ms);
      expect(again).toMatchObject({ ok: true, value: result.value, ts: result.ts, repeated: true });
      const wait = (result.retryAfter ?? 0) - ms;
      // A bucket without a debt has no wait, and one whose debt is repaid has none any more.
      expect(again.retryAfter ?? 0).toBeGreaterThanOrEqual(Math.max(0, wait) - 1);
      expect(again.retryAfter ?? 0).toBeLessThanOrEqual(Math.max(0, wait) + 1);
    }),
    { numRuns: cases(2000) },
  );
});

it("is remembered for onceFor, whatever the clocks of other processes say", () => {
  const marker = markerOf({ value: 3 }, 1000);
  expect(wasCharged(marker, 500, 0)).toBe(true);
  expect(wasCharged(marker, 500, 1499)).toBe(true);
  expect(wasCharged(marker, 500, 1500)).toBe(false);
  expect(wasCharged(null, 500, 1000)).toBe(false);
});
