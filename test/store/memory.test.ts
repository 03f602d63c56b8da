import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../server/index.js";
import { describeStore } from "./contract.js";

describeStore("memoryStore", async () => ({ store: memoryStore(), close: async () => {} }));

describe("memoryStore", () => {
  it("drops the rows that were written longest ago when it exceeds maxRows", async () => {
    const limiter = createRateLimiter({
      store: memoryStore({ maxRows: 2 }),
      clock: createManualClock(),
      limits: { once: { kind: "token bucket", rate: 1, period: MINUTE } },
    });
    for (const key of ["a", "b", "c"]) await limiter.limit("once", { key });
    expect(await limiter.check("once", { key: "a" })).toMatchObject({ ok: true });
    expect(await limiter.check("once", { key: "b" })).toMatchObject({ ok: false });
    expect(await limiter.check("once", { key: "c" })).toMatchObject({ ok: false });
  });

  it("discards the writes of a transaction that is rolled back", async () => {
    const store = memoryStore();
    const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;
    const limiter = createRateLimiter({ store, limits });
    const failing = limiter.transaction(async ({ limit }) => {
      await limit("once", { key: "a" });
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await limiter.transaction(({ limit }) => limit("once", { key: "b" }));
    expect(await store.list!("once", undefined, 10)).toMatchObject([{ key: "b" }]);
  });

  it("throws for a maxRows that is not a whole number above 0", () => {
    for (const maxRows of [0, -1, 1.5, NaN]) {
      expect(() => memoryStore({ maxRows })).toThrow(`maxRows must be a whole number above 0`);
    }
  });
});
