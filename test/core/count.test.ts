import { describe, expect, it } from "vitest";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { calculateRateLimit } from "../../core/calculate.js";
import { refundRateLimit } from "../../core/refund.js";
import { waitsInLine } from "../../core/waits-in-line.js";
import { validateCount, validateSatisfiable } from "../../core/count.js";
import { MINUTE } from "../../core/durations.js";

const limit: RateLimitConfig = { kind: "token bucket", rate: 10, period: 1000 };

const rejection = (reason: string, ...quoted: string[]) =>
  expect.objectContaining({
    name: "RateLimitInputError",
    kind: "InvalidInput",
    reason,
    message: expect.stringMatching(quoted.join(".*")),
  });

describe("validateCount", () => {
  it.each([0, -0, 1, 0.5, 1e300])("accepts %d", (count) => {
    expect(() => validateCount(count)).not.toThrow();
  });

  it.each([
    ["a string", "1"],
    ["null", null],
    ["an object", {}],
    ["undefined", undefined],
  ])("rejects %s from plain JavaScript", (_title, count) => {
    expect(() => validateCount(count as number)).toThrow(rejection("count"));
  });
});

const held = { value: 0, config: limit, now: 0 };
describe.each<[title: string, call: (count: number) => unknown]>([
  ["validateCount", validateCount],
  ["validateSatisfiable", (count) => validateSatisfiable("sends", limit, count, false)],
  ["validateSatisfiable with reserve", (count) => validateSatisfiable("sends", limit, count, true)],
  ["calculateRateLimit", (count) => calculateRateLimit(null, limit, 0, count)],
  ["refundRateLimit", (count) => refundRateLimit([null], limit, 0, count)],
  ["waitsInLine", (count) => waitsInLine(held, [count])],
])("%s", (_title, call) => {
  it.each([-1, -1e-9, NaN, Infinity, -Infinity])("rejects %d and quotes it", (count) => {
    expect(() => call(count)).toThrow(rejection("count", `${count}`));
  });
});

describe("validateSatisfiable", () => {
  it.each<[title: string, config: RateLimitConfig, most: number, mostReserved: number]>([
    ["rate and no capacity", { ...limit, maxReserved: 5 }, 10, 15],
    ["capacity above the rate", { ...limit, capacity: 30, maxReserved: 5 }, 30, 35],
    ["capacity below the rate", { ...limit, capacity: 3, maxReserved: 5 }, 3, 8],
    ["capacity 0", { ...limit, capacity: 0, maxReserved: 5 }, 0, 5],
    ["maxReserved 0", { ...limit, maxReserved: 0 }, 10, 10],
    ["one shard", { ...limit, maxReserved: 5, shards: 1 }, 10, 15],
    ["two shards", { ...limit, maxReserved: 5, shards: 2 }, 10, 15],
    ["five shards, of which a call uses two", { ...limit, maxReserved: 5, shards: 5 }, 4, 6],
  ])("knows the bounds of %s", (_title, config, most, mostReserved) => {
    for (const [reserve, bound] of [
      [false, most],
      [true, mostReserved],
    ] as const) {
      const check = (count: number) => () => validateSatisfiable("sends", config, count, reserve);
      expect(check(0)).not.toThrow();
      expect(check(bound)).not.toThrow();
      expect(check(bound + 0.01)).toThrow(
        rejection("unsatisfiable", `${bound + 0.01}`, '"sends"', `${bound}`),
      );
    }
  });

  it("accepts any usual count with reserve and without maxReserved", () => {
    expect(() => validateSatisfiable("sends", limit, 1e9, true)).not.toThrow();
    expect(() => validateSatisfiable("sends", limit, 1e300, true)).toThrow(
      rejection("unsatisfiable"),
    );
  });

  it("says how a whole token can be held, where the capacity is less than one", () => {
    const config: RateLimitConfig = { kind: "token bucket", rate: 1 / 3, period: MINUTE };
    const check = (count: number) => () => validateSatisfiable("sends", config, count, false);
    expect(check(1 / 3)).not.toThrow();
    expect(check(1)).toThrow(
      rejection(
        "unsatisfiable",
        "allows 0.333",
        "set capacity, which is the rate by default, to 1",
      ),
    );
  });

  it("names the shards if they are the reason", () => {
    const sharded = { ...limit, shards: 5 };
    expect(() => validateSatisfiable("sends", sharded, 5, false)).toThrow(
      rejection("unsatisfiable", "two of its 5 shards"),
    );
  });
});
