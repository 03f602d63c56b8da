/** The promises of a decision to its caller, for any numbers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundUp } from "../../core/calculate.js";
import { heldAt } from "../../core/rows/reading.js";
import { capacityOf, toleranceOf } from "../../core/config.js";
import { decideRateLimit } from "../../core/decide.js";
import { anyCall, type Call } from "./arbitraries.js";
import { cases } from "../support/cases.js";

const RUNS = { numRuns: cases(2000) };

/** The decision on the same call, made `ms` later. */
function decide({ config, existing, now, count, reserve }: Call, ms = 0) {
  return decideRateLimit(existing, config, now + ms, count, reserve);
}

describe("a denied call", () => {
  it("passes after retryAfter, and not one ms earlier", () => {
    fc.assert(
      fc.property(anyCall, (call) => {
        const { result } = decide(call);
        fc.pre(!result.ok);
        expect(result.retryAfter).toSatisfy(Number.isSafeInteger);
        expect(result.retryAfter).toBeGreaterThanOrEqual(1);
        expect(decide(call, result.retryAfter).result.ok).toBe(true);
        expect(decide(call, result.retryAfter - 1).result.ok).toBe(false);
      }),
      RUNS,
    );
  });

  it("leaves nothing to write and reports the tokens held", () => {
    fc.assert(
      fc.property(anyCall, (call) => {
        const { result, next } = decide(call);
        fc.pre(!result.ok);
        expect(next).toBeUndefined();
        const { value } = heldAt(call.existing, call.config, call.now);
        expect(result.value).toBe(roundUp(value, call.config));
        expect(value).toBeLessThan(call.count);
      }),
      RUNS,
    );
  });
});

describe("a granted call", () => {
  it("is repaid after retryAfter as a reservation, and not one ms earlier", () => {
    fc.assert(
      fc.property(anyCall, (call) => {
        const { result, next = null } = decide({ ...call, reserve: true });
        fc.pre(result.ok && result.retryAfter !== undefined);
        const { retryAfter } = result;
        expect(retryAfter).toSatisfy(Number.isSafeInteger);
        expect(retryAfter).toBeGreaterThanOrEqual(1);
        const owed = (ms: number) => {
          const { value } = heldAt(next, call.config, call.now + ms);
          return roundUp(value, call.config);
        };
        expect(owed(retryAfter)).toBeGreaterThanOrEqual(0);
        expect(owed(retryAfter - 1)).toBeLessThan(0);
      }),
      RUNS,
    );
  });

  it("goes below 0 only with reserve, and never below -maxReserved", () => {
    fc.assert(
      fc.property(anyCall, (call) => {
        const { result, next } = decide(call);
        fc.pre(result.ok);
        // A debt comes on top of the capacity, so it has the rounding error of that.
        const tolerance = toleranceOf(call.config) + Number.EPSILON * capacityOf(call.config);
        const { value } = heldAt(next, call.config, call.now);
        expect(Math.abs(value - result.value)).toBeLessThanOrEqual(tolerance);
        expect(result.retryAfter === undefined).toBe(result.value >= 0);
        const { maxReserved = Infinity } = call.config;
        const least = call.reserve ? -maxReserved - tolerance : 0;
        expect(result.value).toBeGreaterThanOrEqual(least);
      }),
      RUNS,
    );
  });

  it("would have been granted any smaller count", () => {
    fc.assert(
      fc.property(anyCall, fc.double({ min: 0, max: 1, noNaN: true }), (call, part) => {
        fc.pre(decide(call).result.ok);
        expect(decide({ ...call, count: call.count * part }).result.ok).toBe(true);
      }),
      RUNS,
    );
  });

  it("never moves ts back and never leaves more than the capacity", () => {
    fc.assert(
      fc.property(anyCall, (call) => {
        const { next } = decide(call);
        fc.pre(next !== undefined);
        expect(next.ts).toBeGreaterThanOrEqual(call.existing?.ts ?? -Infinity);
        const { value } = heldAt(next, call.config, next.ts);
        expect(value).toBeLessThanOrEqual(call.config.capacity ?? call.config.rate);
      }),
      RUNS,
    );
  });
});
