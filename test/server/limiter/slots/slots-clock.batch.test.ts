import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";

const limits = { generations: { kind: "concurrency", slots: 1 } } as const;

describe.each(stores.filter(([name]) => name !== "memory"))("enter on %s", (_, open) => {
  it("shares a round trip with the calls that wait beside it", async () => {
    const { store, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    let batches = 0;
    const onBatch = () => void batches++;
    const limiter = createRateLimiter({ store: store as never, limits, onBatch });
    await limiter.check("generations");
    batches = 0;
    const keys = Array.from({ length: 20 }, (__, i) => `user ${i}`);
    const all = await Promise.all(keys.map((key) => limiter.enter("generations", { key })));
    expect(all.every(({ ok }) => ok)).toBe(true);
    expect(batches).toBeLessThan(10);
    for (const held of all) if (held.ok) await held.release();
  });
});
