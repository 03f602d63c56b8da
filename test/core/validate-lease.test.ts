import { describe, expect, it } from "vitest";
import { type RateLimitConfig, SECOND, validateConfig } from "../../core/index.js";

const hot = { kind: "token bucket", rate: 100, period: SECOND, capacity: 100 } as const;

describe("a lease", () => {
  it.each<[string, RateLimitConfig]>([
    ["a token bucket", { ...hot, lease: { ms: 900 } }],
    ["a fixed window", { ...hot, kind: "fixed window", lease: { ms: 10 } }],
    ["one shard", { ...hot, shards: 1, lease: { ms: 100 } }],
    ["none", { ...hot, lease: undefined }],
  ])("goes with %s", (_, config) => {
    expect(() => validateConfig(config)).not.toThrow();
  });

  it.each<[string, object, string, string]>([
    ["a closing", { blockFor: 1000 }, "blockFor", "does not see the closing"],
    ["shards", { shards: 4 }, "shards", "leave shards out"],
    ["months", { kind: "fixed window", period: "month" }, "period", "use a period in ms"],
    ["a short time", { lease: { ms: 9 } }, "lease.ms", "from 10 to 60,000"],
    ["a long time", { lease: { ms: 60_001 } }, "lease.ms", "from 10 to 60,000"],
    ["a part of a ms", { lease: { ms: 10.5 } }, "lease.ms", "a whole number"],
    ["no time", { lease: {} }, "lease.ms", "a whole number"],
    ["a number", { lease: 100 }, "lease", "{ ms: 1000 }"],
    ["another option", { lease: { ms: 100, size: 5 } }, "lease.size", "use ms"],
    ["a burst that refills meanwhile", { lease: { ms: 1000 } }, "lease.ms", "100 tokens come in"],
  ])("does not go with %s", (_, options, option, reason) => {
    const config = { ...hot, lease: { ms: 100 }, ...options } as RateLimitConfig;
    const error = (() => {
      try {
        validateConfig(config, "limits.hot");
      } catch (thrown) {
        return thrown as Error;
      }
      return undefined;
    })();
    expect(error).toMatchObject({ name: "RateLimitConfigError", option: `limits.hot.${option}` });
    expect(error?.message).toContain(reason);
  });
});
