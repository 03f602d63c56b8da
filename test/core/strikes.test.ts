/** Closings that grow, step by step, for any list. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isFullAt, type RateLimitState } from "../../core/calculate.js";
import { decideRateLimit } from "../../core/decide.js";
import { HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { strikesConfig, struckState, withNextBlock } from "../../core/strikes.js";

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
      let row: RateLimitState | null = null;
      let strikes: RateLimitState | null = null;
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
        strikes = struckState(config, strikes, now, next!, closing);
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
    { numRuns: 1000 },
  );
});
