import { describe, expect, it } from "vitest";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { DAY, SECOND } from "../../core/durations.js";
import { validateConfig } from "../../core/validate-config.js";

const bucket = { kind: "token bucket", rate: 10, period: 1000 };
const window = { ...bucket, kind: "fixed window" };

type Bad = [options: object, option: string, quoted: string];

const notAbove0: [unknown, string][] = [
  [0, "0"],
  [-1, "-1"],
  [Number.NaN, "NaN"],
  [Infinity, "Infinity"],
  ["10", '"10"'],
  [null, "null"],
  [[10], "an object"],
];
const notAtLeast0 = notAbove0.filter(([value]) => value !== 0);
const notWhole: [unknown, string][] = [
  [0.5, "0.5"],
  [2 ** 53, "9007199254740992"],
];
const badShards: [unknown, string][] = [...notAbove0, ...notWhole, [1001, "1001"]];

const rows = (option: string, values: [unknown, string][], base: object = bucket): Bad[] =>
  values.map(([value, quoted]) => [{ ...base, [option]: value }, option, quoted]);

describe.each([bucket, window])("a $kind", (base) => {
  const bad: Bad[] = [
    ...rows(
      "kind",
      [
        ["sliding window", '"sliding window"'],
        [undefined, "undefined"],
      ],
      base,
    ),
    ...rows("rate", [...notAbove0, [undefined, "undefined"]], base),
    ...rows("period", [...notAbove0, ...notWhole, [undefined, "undefined"]], base),
    ...rows("capacity", notAtLeast0, base),
    ...rows("maxReserved", notAtLeast0, base),
    ...rows("shards", badShards, base),
    ...rows(
      "start",
      [
        [0.5, "0.5"],
        [Number.NaN, "NaN"],
        ["0", '"0"'],
        [null, "null"],
      ],
      base,
    ),
    [{ ...base, capacity: 0, maxReserved: 0 }, "capacity", "0"],
    [{ ...base, rate: 1e-9, period: DAY, capacity: 1 }, "rate", "1e-9"],
    [{ ...base, rate: 1e-9, period: DAY, maxReserved: 1 }, "rate", "1e-9"],
  ];

  it.each(bad)("rejects %o, quoting the option %s and its value %s", (config, option, quoted) => {
    expect(() => validateConfig(config as RateLimitConfig, "limits.sends")).toThrow(
      expect.objectContaining({
        name: "RateLimitConfigError",
        kind: "InvalidConfig",
        option: `limits.sends.${option}`,
        message: expect.stringMatching(
          new RegExp(String.raw`^limits\.sends\.${option} must be .+, got ${escape(quoted)}$`),
        ),
      }),
    );
  });

  it("rejects a misspelt option, which would otherwise have its default", () => {
    const config = { ...base, capcity: 3 } as unknown as RateLimitConfig;
    expect(() => validateConfig(config, "limits.sends")).toThrow(
      expect.objectContaining({
        name: "RateLimitConfigError",
        option: "limits.sends.capcity",
        value: 3,
        message: expect.stringMatching(
          /^limits\.sends\.capcity is not an option, got 3; use kind, rate, period, capacity, /,
        ),
      }),
    );
  });

  it.each<[title: string, options: object]>([
    ["nothing but rate and period", {}],
    ["a third of a token", { rate: 1 / 3 }],
    ["a millionth of a token", { rate: 1e-6 }],
    ["a period of 1 ms", { period: 1 }],
    ["a period of ten years", { period: 3652 * DAY }],
    ["one token in a millennium", { rate: 1, period: 365_250 * DAY }],
    ["a capacity below the rate", { capacity: 3 }],
    ["a capacity above the rate", { capacity: 1000 }],
    ["a capacity of half a token", { capacity: 0.5 }],
    ["no capacity", { capacity: 0 }],
    ["no capacity and some room to owe", { capacity: 0, maxReserved: 1 }],
    ["no room to owe", { maxReserved: 0 }],
    ["one shard", { shards: 1 }],
    ["a thousand shards", { shards: 1000 }],
    ["options that are undefined", { capacity: undefined, maxReserved: undefined }],
  ])("accepts %s", (_title, options) => {
    expect(() => validateConfig({ ...base, ...options } as RateLimitConfig)).not.toThrow();
  });
});

describe("the start of a fixed window", () => {
  it.each([0, -1, -DAY, 12_345, Date.UTC(2030), 2 ** 53 - 1])("can be %d", (start) => {
    expect(() => validateConfig({ ...window, start } as RateLimitConfig)).not.toThrow();
  });
});

describe("a value that is not a config", () => {
  it.each([
    [undefined, "undefined"],
    [null, "null"],
    [SECOND, "1000"],
    ["token bucket", '"token bucket"'],
  ])("is rejected and quoted: %o", (config, quoted) => {
    expect(() => validateConfig(config as unknown as RateLimitConfig, "limits.sends")).toThrow(
      `limits.sends must be a rate limit config, got ${quoted}`,
    );
  });
});

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
