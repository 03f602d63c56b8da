import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, MINUTE } from "../../../../server/index.js";
import { createManualClock } from "../../../../core/testing.js";
import { stores } from "../../../support/stores.js";

const limits = { generations: { kind: "concurrency", slots: 1 } } as const;
const long = { kind: "concurrency", slots: 1, ttl: 10 * MINUTE } as const;

describe.each(stores)("prune of slots on %s", (_, open) => {
  it("keeps a slot of a call whose ttl is longer than the limit's", async () => {
    const { store, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    const clock = createManualClock(1e12);
    const limiter = createRateLimiter({ store: store as never, limits, clock });
    const call = { key: "ada", config: long };
    const held = await limiter.enter("generations", call);
    clock.advance(10 * MINUTE - 1);
    expect(await limiter.prune()).toBe(0);
    expect(await limiter.enter("generations", call)).toMatchObject({ ok: false, retryAfter: 1 });
    // The row of a holder that has died is full after up to 600 of the longest ttls.
    clock.advance(7 * DAY);
    expect(await limiter.prune()).toBe(1);
    if (held.ok) await held.release();
  });
});
