/** `enter` with tokens, while another process uses them between its read and its write. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, MINUTE } from "../../../../server/index.js";
import { racingStore } from "../../../support/racing-store.js";
import { stores } from "../../../support/stores.js";

const limits = {
  generations: { kind: "concurrency", slots: 2 },
  tokens: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;

describe.each(stores)("enter with tokens on %s, in a race", (_, open) => {
  it.each([0, 4])("takes no slot where %i tokens can no longer be taken", async (count) => {
    await using opened = await open();
    const clock = createManualClock();
    const { store, race } = racingStore(opened.store);
    const limiter = createRateLimiter({ store, clock, limits });
    const peer = createRateLimiter({ store: opened.peer, clock, limits });
    race.meanwhile = () => peer.charge("tokens", { count: 12 });
    const entered = await limiter.enter("generations", { with: [{ name: "tokens", count }] });
    expect(entered).toMatchObject({ ok: false, name: "tokens" });
    expect((await peer.getValue("tokens")).value).toBe(-2);
    await using first = await peer.enter("generations");
    await using second = await peer.enter("generations");
    expect([first.ok, second.ok]).toEqual([true, true]);
  });
});
