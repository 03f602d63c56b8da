import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FixedWindowConfig, RateLimitConfig } from "../../core/limit-config.js";
import { DAY, HOUR } from "../../core/durations.js";
import { withStart } from "../../core/phase.js";
import { cases } from "../support/cases.js";

const hourly: FixedWindowConfig = { kind: "fixed window", rate: 10, period: HOUR };

const startOf = (name: string, key?: string, config = hourly) =>
  withStart(config, name, key).start ?? Number.NaN;

describe("withStart", () => {
  it("gives the same start to the same name and key every time", () => {
    const filled = withStart(hourly, "sends", "ann");
    expect(filled).toEqual({ ...hourly, start: expect.any(Number) });
    expect(withStart({ ...hourly }, "sends", "ann")).toEqual(filled);
    expect(withStart(filled, "other", "bob")).toBe(filled);
    expect(hourly).not.toHaveProperty("start");
  });

  it("gives the same start in every version, because rows and browsers rely on it", () => {
    expect(startOf("sends", "ann")).toBe(263_431);
    expect(startOf("sends")).toBe(822_939);
    expect(startOf("sends", "ann", { ...hourly, period: DAY })).toBe(6_322_351);
  });

  it("gives different starts to different names and keys", () => {
    const starts = [
      startOf("sends", "ann"),
      startOf("sends", "anm"),
      startOf("sends", "nna"),
      startOf("sends"),
      startOf("reads", "ann"),
      startOf("ann", "sends"),
      startOf("sendsann"),
      startOf("send", "sann"),
    ];
    expect(new Set(starts).size).toBe(starts.length);
  });

  it("stays within the first period, in whole ms", () => {
    const anyText = fc.string({ minLength: 1, maxLength: 191, unit: "grapheme" });
    const anyPeriod = fc.oneof(
      fc.constantFrom(1, 2, HOUR, Number.MAX_SAFE_INTEGER),
      fc.maxSafeNat().map((period) => Math.max(1, period)),
    );
    fc.assert(
      fc.property(anyText, anyText, anyPeriod, (name, key, period) => {
        const start = startOf(name, key, { ...hourly, period });
        expect(start).toSatisfy(Number.isSafeInteger);
        expect(start).toBeGreaterThanOrEqual(0);
        expect(start).toBeLessThan(period);
      }),
      { numRuns: cases(1000) },
    );
  });

  it.each<[title: string, keyOf: (n: number) => string]>([
    ["numbered", (n) => `user-${n}`],
    ["of one character", (n) => String.fromCodePoint(0x4e00 + n)],
    ["long, and different only in their first characters", (n) => `${n}${"-".repeat(180)}`],
  ])("spreads keys over the period: %s", (_title, keyOf) => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 1000; n++) {
      const tenth = Math.floor((startOf("sends", keyOf(n)) / HOUR) * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(Math.min(...tenths)).toBeGreaterThanOrEqual(50);
    expect(Math.max(...tenths)).toBeLessThanOrEqual(150);
  });

  it.each<[title: string, config: RateLimitConfig]>([
    ["start 0, midnight UTC", { ...hourly, start: 0 }],
    ["a negative start", { ...hourly, start: -1 }],
    ["a start beyond the first period", { ...hourly, start: 5 * HOUR }],
    ["a token bucket", { kind: "token bucket", rate: 10, period: HOUR }],
  ])("does not change %s", (_title, config) => {
    expect(withStart(config, "sends", "ann")).toBe(config);
  });
});
