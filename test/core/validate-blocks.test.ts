import { describe, expect, it } from "vitest";
import { DAY, MINUTE, type RateLimitConfig, validateConfig } from "../../core/index.js";

const bucket = { kind: "token bucket", rate: 5, period: MINUTE } as const;
const refusedBy = (config: object): unknown => {
  try {
    validateConfig(config as RateLimitConfig, "limits.logIn");
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

describe("blockFor", () => {
  it.each([
    [{ blockFor: MINUTE }],
    [{ blockFor: [MINUTE] }],
    [{ blockFor: [MINUTE, MINUTE, DAY], forgiveAfter: 1 }],
    [{ blockFor: Array.from({ length: 100 }, () => 1) }],
  ])("may be %j", (options) => {
    expect(refusedBy({ ...bucket, ...options })).toBeUndefined();
  });

  it.each<[object, string, string]>([
    [{ blockFor: [] }, "blockFor", "a list of 1 to 100"],
    [{ blockFor: Array.from({ length: 101 }, () => 1) }, "blockFor", "a list of 1 to 100"],
    [{ blockFor: [MINUTE, 0] }, "blockFor[1]", "a whole number of ms above 0"],
    [{ blockFor: [1.5] }, "blockFor[0]", "a whole number of ms above 0"],
    [{ blockFor: [1, 2 ** 53 - 1] }, "blockFor[1]", "a whole number of ms above 0"],
    [{ blockFor: ["1m"] }, "blockFor[0]", "a whole number of ms above 0"],
    [{ blockFor: [2, 1] }, "blockFor[1]", "at least as long as the closing before it (2)"],
    [{ blockFor: [1, 2], shards: 2 }, "blockFor", "left out of a limit with shards"],
    [{ blockFor: [1, 2], lease: { ms: 10 } }, "blockFor", "does not go with lease"],
    [{ blockFor: [1, 2], forgiveAfter: 0 }, "forgiveAfter", "a whole number of ms above 0"],
    [{ blockFor: 1, forgiveAfter: 1 }, "forgiveAfter", "with a list of blockFor alone"],
    [{ forgiveAfter: 1 }, "forgiveAfter", "make blockFor a list"],
    [{ onceFor: 0 }, "onceFor", "a whole number of ms above 0"],
    [{ onceFor: 1, shards: 2 }, "shards", "does not go with onceFor"],
  ])("is refused as %j", (options, option, reason) => {
    const error = refusedBy({ ...bucket, ...options });
    expect(error).toMatchObject({ name: "RateLimitConfigError", option: `limits.logIn.${option}` });
    expect((error as Error).message).toContain(reason);
  });
});
