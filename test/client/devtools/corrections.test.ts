import { describe, expect, it } from "vitest";
import { correctionOf, holdsOf } from "../../../client/devtools/corrections.js";
import type { RateLimitSnapshot } from "../../../client/index.js";
import { HOUR, SECOND } from "../../../core/durations.js";

const NOW = 1_900_000_000_000;

function snapshot(value: number, more: Partial<RateLimitSnapshot> = {}): RateLimitSnapshot {
  const config = { kind: "token bucket", rate: 1, period: HOUR, capacity: 9 } as const;
  return { name: "a", value, ts: NOW, now: NOW, config, ...more };
}

describe("a correction", () => {
  it("says what there is, and what was predicted", () => {
    expect(correctionOf(snapshot(5), snapshot(3))).toBe("3 of 9, where the page predicted 5");
    expect(correctionOf(snapshot(3), snapshot(5))).toBe("5 of 9, where the page predicted 3");
    expect(correctionOf(snapshot(1), snapshot(-2))).toBe(
      "0 of 9, and owes 2, where the page predicted 1",
    );
  });

  it("is none where the bucket has refilled as predicted", () => {
    const later = { now: NOW + HOUR, ts: NOW + HOUR };
    expect(correctionOf(snapshot(3), snapshot(4, later))).toBeUndefined();
    expect(correctionOf(snapshot(3), snapshot(3, later))).toBe(
      "3 of 9, where the page predicted 4",
    );
  });

  it("is none for tokens that came while the page did not know the time that well", () => {
    const config = { kind: "token bucket", rate: 100, period: SECOND } as const;
    expect(correctionOf(snapshot(50, { config }), snapshot(30, { config }))).toBeUndefined();
    expect(correctionOf(snapshot(50, { config }), snapshot(20, { config }))).toBe(
      "20 of 100, where the page predicted 50",
    );
  });

  it("says that a denial has closed the limit, and nothing where the page has had that denial", () => {
    const config = { kind: "token bucket", rate: 1, period: HOUR, blockFor: HOUR } as const;
    const end = NOW + HOUR;
    const closed = snapshot(0, { config, ts: end, closedUntil: end });
    expect(correctionOf(snapshot(0, { config }), closed)).toBe(
      "0 of 1, closed, where the page predicted 0",
    );
    expect(correctionOf(snapshot(-1, { config }), closed)).toBeUndefined();
    expect(correctionOf(closed, closed)).toBeUndefined();
    expect(correctionOf(closed, snapshot(0, { config }))).toBe(
      "0 of 1, where the page predicted 0",
    );
    expect(correctionOf(closed, { ...closed, now: end, ts: end })).toBeUndefined();
  });

  it("says that the limit itself has changed", () => {
    const config = { kind: "token bucket", rate: 2, period: HOUR, capacity: 18 } as const;
    expect(correctionOf(snapshot(3), snapshot(12, { config }))).toBe(
      "12 of 18, because the limit has changed (token bucket: 2 per hour, holds up to 18)",
    );
  });
});

it("tells of tokens that calls hold, and of the end of the last hold", () => {
  expect(holdsOf(snapshot(5), snapshot(5))).toBeUndefined();
  expect(holdsOf(snapshot(5, { held: 4 }), snapshot(5, { held: 4 }))).toBeUndefined();
  expect(holdsOf(snapshot(5, { held: 0 }), snapshot(4, { held: 1 }))).toBe(
    "calls hold 1 token (before: 0)",
  );
  expect(holdsOf(snapshot(4, { held: 1 }), snapshot(5, { held: 0 }))).toBe(
    "calls hold no tokens any more",
  );
});
