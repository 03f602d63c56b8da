/** How many open holds a key may have. */
import { describe, expect, it } from "vitest";
import { COUNT_SHARD, HELD, MOST_HOLDS } from "../../../../core/rows/hold.js";
import { createRateLimiter, MINUTE } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
} as const;
const key = "user";
const release = { for: MINUTE, then: "release" } as const;

describe.each(storesAndRedis)("open holds on %s", (_, open) => {
  it("are bounded in their number for one key, by an error that says so", async () => {
    await using opened = await open();
    const { store } = opened;
    const limiter = createRateLimiter({ store, limits });
    const peer = createRateLimiter({ store: opened.peer, limits });
    const call = { key, count: 1, hold: release };
    await limiter.limit("quota", { ...call, once: "first" });
    const row = { name: `${HELD.prefix}quota`, key, shard: COUNT_SHARD };
    const next = [{ used: MOST_HOLDS, ts: 0 }];
    await store.apply([{ rows: [row], decide: () => ({ result: 0, writes: next }) }]);
    const beyond = peer.limit("quota", { ...call, once: "one more" });
    await expect(beyond).rejects.toMatchObject({ kind: "InvalidInput", reason: "holds" });
    await expect(beyond).rejects.toThrow(/has 10000 open holds.*settle or release/);
    expect(await peer.limit("quota", { ...call, once: "first" })).toMatchObject({ ok: true });
    await peer.release("quota", { key, once: "first" });
    await store.apply([
      { rows: [row], decide: () => ({ result: 0, writes: [{ used: MOST_HOLDS - 1, ts: 0 }] }) },
    ]);
    const last = await peer.limit("quota", { ...call, once: "one more" });
    expect(last).toMatchObject({ ok: true });
  });
});
