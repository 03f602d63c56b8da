/** A denial that closes a bucket, shown by the two numbers of its row. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import { HOUR, MINUTE } from "../../core/durations.js";
import { refundRateLimit } from "../../core/refund.js";
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { cases } from "../support/cases.js";

const T = Date.UTC(2030, 0, 1);
const bucket: RateLimitConfig = {
  kind: "token bucket",
  rate: 5,
  period: 15 * MINUTE,
  blockFor: 15 * MINUTE,
};
const window: RateLimitConfig = {
  kind: "fixed window",
  rate: 5,
  period: HOUR,
  start: 0,
  blockFor: 15 * MINUTE,
};

/** A row, and the answers to calls at an instant, ms after `T`. */
function createRow(config: RateLimitConfig, row: Row | null = null) {
  return {
    call(ms: number, count = 1): number | "granted" {
      const { result, next } = decideRateLimit(row, config, T + ms, count);
      row = next ?? row;
      return result.ok ? "granted" : ms + result.retryAfter;
    },
    refund(ms: number, count: number): number {
      const { next, rest } = refundRateLimit([row], config, T + ms, count);
      row = next[0] ?? row;
      return count - rest;
    },
  };
}

describe("blockFor of a token bucket", () => {
  it("closes it until it holds 0 tokens again after that time", () => {
    const row = createRow(bucket);
    for (let i = 0; i < 5; i++) expect(row.call(0)).toBe("granted");
    // 15 minutes to 0 tokens, and 3 more to the first one.
    expect(row.call(1000)).toBe(1000 + 18 * MINUTE);
    expect(row.call(1000 + 18 * MINUTE - 1)).toBe(1000 + 18 * MINUTE);
    expect(row.call(1000 + 18 * MINUTE)).toBe("granted");
  });

  it("is not extended by denials meanwhile, whatever their count", () => {
    const row = createRow(bucket, { used: 5, ts: T });
    expect(row.call(0)).toBe(18 * MINUTE);
    for (let minute = 1; minute < 18; minute++) expect(row.call(minute * MINUTE)).toBe(18 * MINUTE);
    expect(row.call(17 * MINUTE, 5)).toBe(30 * MINUTE);
    expect(row.call(18 * MINUTE)).toBe("granted");
  });

  it("closes it again after the next grant", () => {
    const row = createRow(bucket, { used: 5, ts: T });
    row.call(0);
    row.call(18 * MINUTE);
    expect(row.call(19 * MINUTE)).toBe(19 * MINUTE + 18 * MINUTE);
  });

  it("closes it also for calls of a smaller count", () => {
    const row = createRow(bucket, { used: 3, ts: T });
    row.call(0, 3);
    expect(row.call(15 * MINUTE - 1, 0.001)).not.toBe("granted");
    expect(row.call(15 * MINUTE + 1000, 0.001)).toBe("granted");
  });
});

describe("blockFor of a fixed window", () => {
  it("closes it until the first window that starts after that time", () => {
    const row = createRow(window);
    for (let i = 0; i < 5; i++) expect(row.call(0)).toBe("granted");
    expect(row.call(44 * MINUTE)).toBe(HOUR);
    const late = createRow(window, { used: 5, ts: T });
    expect(late.call(50 * MINUTE)).toBe(2 * HOUR);
    expect(late.call(HOUR + 1)).toBe(2 * HOUR);
    for (let i = 0; i < 5; i++) expect(late.call(2 * HOUR)).toBe("granted");
    expect(late.call(2 * HOUR)).toBe(3 * HOUR);
  });

  it("is not extended by a denial later in the same window", () => {
    const row = createRow(window, { used: 5, ts: T });
    expect(row.call(40 * MINUTE)).toBe(HOUR);
    expect(row.call(50 * MINUTE)).toBe(HOUR);
    expect(row.call(HOUR, 5)).toBe("granted");
  });

  it("gives nothing back to a closed window, nor a smaller call what it holds", () => {
    const row = createRow(window, { used: 3, ts: T });
    expect(row.call(0, 3)).toBe(HOUR);
    expect(row.call(1, 1)).toBe(HOUR);
    expect(row.refund(2, 5)).toBe(0);
    expect(row.call(3, 1)).toBe(HOUR);
  });

  it("counts months as windows", () => {
    const row = createRow({ ...window, period: "month" }, { used: 5, ts: T });
    expect(row.call(31 * 24 * HOUR - MINUTE)).toBe(59 * 24 * HOUR);
  });
});

describe("a closed bucket", () => {
  it.each<[string, RateLimitConfig, number]>([
    ["token bucket", bucket, 15 * MINUTE],
    ["window that ends later", window, HOUR],
    ["month", { ...window, period: "month" }, 31 * 24 * HOUR],
  ])("says in its row when it opens, and shows no tokens until then: a %s", (_, config, opens) => {
    const { result, next } = decideRateLimit({ used: 3, ts: T }, config, T, 3);
    expect(next).toEqual({ used: CLOSED, ts: T + opens });
    expect(result).toMatchObject({ ok: false, value: 0 });
    expect(decideRateLimit(next!, config, T + opens - 1, 0).result).toEqual({
      ok: false,
      retryAfter: 1,
      value: 0,
    });
    expect(decideRateLimit(next!, config, T + opens, 0).result.ok).toBe(true);
  });

  it("grants nothing before blockFor has passed, and is open right after", () => {
    const anyCase = fc.record({
      kind: fc.constantFrom("token bucket" as const, "fixed window" as const),
      rate: fc.oneof(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0.01, max: 10, noNaN: true }),
      ),
      period: fc.integer({ min: 1, max: 1e6 }),
      blockFor: fc.integer({ min: 1, max: 1e7 }),
      at: fc.integer({ min: 0, max: 1e7 }),
      share: fc.double({ min: 0, max: 0.99, noNaN: true }),
    });
    fc.assert(
      fc.property(anyCase, fc.double({ min: 0, max: 1, noNaN: true }), (given, part) => {
        const { kind, rate, period, blockFor, at, share } = given;
        const config = { kind, rate, period, blockFor } as RateLimitConfig;
        const row = { used: rate * (1 - share), ts: T };
        const now = T + (kind === "token bucket" ? 0 : at % period);
        const { result, next } = decideRateLimit(row, config, now, rate);
        fc.pre(!result.ok);
        const later = (ms: number, count: number) =>
          decideRateLimit(next!, config, now + ms, count);
        const meanwhile = later(Math.floor(part * (blockFor - 1)), rate / 1000);
        expect(meanwhile.result.ok).toBe(false);
        expect(meanwhile.next).toBeUndefined();
        expect(result.retryAfter).toBeGreaterThanOrEqual(blockFor);
        expect(later(result.retryAfter, rate).result.ok).toBe(true);
        expect(later(result.retryAfter - 1, rate).result.ok).toBe(false);
      }),
      { numRuns: cases(5000) },
    );
  });
});
