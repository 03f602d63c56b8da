import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";

const bucket = { kind: "token bucket", rate: 5, period: MINUTE } as const;
const make = (name: string, config: object) => () =>
  createRateLimiter({ store: memoryStore(), limits: { [name]: { ...bucket, ...config } } });

describe("rows beside those of a limit", () => {
  it("need a name of their limit that leaves room for theirs", async () => {
    expect(make("n".repeat(191), {})).not.toThrow();
    expect(make("n".repeat(167), { blockFor: [1, 2] })).not.toThrow();
    expect(make("n".repeat(168), { blockFor: [1, 2] })).toThrow(
      "blockFor needs a name of at most 167 characters",
    );
    expect(make("n".repeat(171), { onceFor: MINUTE })).toThrow(
      "onceFor needs a name of at most 170",
    );
    const long = make("n".repeat(171), {})();
    await expect(long.limit("n".repeat(171), { once: "a" })).rejects.toThrow(
      "once needs a name of at most 170 characters",
    );
  });

  it("are remembered for the limiter's own time, which has to be one", async () => {
    for (const onceFor of [0, 1.5, NaN, 2 ** 53]) {
      expect(() =>
        createRateLimiter({ store: memoryStore(), limits: { bucket }, onceFor }),
      ).toThrow("onceFor must be a whole number of ms above 0");
    }
    let now = 0;
    const store = memoryStore();
    const limiter = createRateLimiter({ store, limits: { bucket }, onceFor: 10, clock: () => now });
    await limiter.limit("bucket", { once: "a" });
    now = 9;
    expect(await limiter.limit("bucket", { once: "a" })).toHaveProperty("repeated");
    now = 10;
    expect(await limiter.limit("bucket", { once: "a" })).not.toHaveProperty("repeated");
  });
});
