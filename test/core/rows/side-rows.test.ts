import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";

const bucket = { kind: "token bucket", rate: 5, period: MINUTE } as const;

describe("rows beside those of a limit", () => {
  it("need a name of their limit that leaves room for theirs", async () => {
    const name = "n".repeat(171);
    const limiter = createRateLimiter({ store: memoryStore(), limits: { [name]: bucket } });
    const refused = limiter.limit(name, { once: "a" });
    await expect(refused).rejects.toThrow("once needs a name of at most 170 characters");
  });

  it("are remembered for the limiter's own time", async () => {
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
