/** The effect of a marker: the first answer, as long as it is remembered. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { decideRateLimit } from "../../../core/decide.js";
import { bucketConfig } from "../../../core/rows/credits.js";
import { answerAgain, markerOf, validateRoom, wasCharged } from "../../../core/rows/marker.js";
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
      const marker = markerOf(next!, config, now);
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

it("is the first answer again where a balance was 0", () => {
  const config = bucketConfig({ kind: "credits" });
  const { next } = decideRateLimit({ used: 3, ts: 1000 }, config, 1000, 3);
  const again = answerAgain(markerOf(next!, config, 1000), next, config, 2000);
  expect(again).toEqual({ ok: true, value: 0, ts: 1000, repeated: true });
});

it("is remembered for onceFor, whatever the clocks of other processes say", () => {
  const marker = markerOf(
    { used: 3, ts: 1000 },
    { kind: "token bucket", rate: 5, period: 1000 },
    1000,
  );
  expect(wasCharged(marker, 500, 0)).toBe(true);
  expect(wasCharged(marker, 500, 1499)).toBe(true);
  expect(wasCharged(marker, 500, 1500)).toBe(false);
  expect(wasCharged(null, 500, 1000)).toBe(false);
});

it("leaves room behind the key of a bucket, where a bar and a backslash count twice", () => {
  const check = (key: string) => () => validateRoom(key, 17, '"a" counts its usage');
  expect(check("k".repeat(174))).not.toThrow();
  expect(check("k".repeat(175))).toThrow(
    'key must have at most 174 characters, as it is stored, because "a" counts its usage; this one has 175',
  );
  expect(check("|".repeat(88))).toThrow("this one has 176");
});
