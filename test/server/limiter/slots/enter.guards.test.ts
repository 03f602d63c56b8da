/** `enter` and `release`, while another process comes between their read and their write. */
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

describe.each(stores)("release on %s, in a race", (_, open) => {
  it("lets no newcomer pass a caller who joins the line meanwhile", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const { store, race } = racingStore(opened.store);
    const one = { work: { kind: "concurrency", slots: 1 } } as const;
    const limiter = createRateLimiter({ store, clock, limits: one });
    const peer = createRateLimiter({ store: opened.peer, clock, limits: one });
    /** Resolves when the caller stands in line. */
    async function join() {
      const leaving = new AbortController();
      let joined = () => {};
      const isJoined = new Promise<void>((resolve) => (joined = resolve));
      const { signal } = leaving;
      const wait = peer.enter("work", { maxWait: Infinity, signal, onPlace: () => joined() });
      await isJoined;
      return async function leave() {
        leaving.abort(new Error("left"));
        await expect(wait).rejects.toThrow("left");
      };
    }
    const slot = await limiter.enter("work");
    // The row of the slot says from now on that callers may wait.
    const leaveFirst = await join();
    await leaveFirst();
    let leaveSecond = async () => {};
    // The first decision of `release` finds that, and the second one reads a line without callers.
    race.meanwhile = async () => {
      race.meanwhile = async () => (leaveSecond = await join());
    };
    if (slot.ok) await slot.release();
    expect(await peer.enter("work")).toMatchObject({ ok: false });
    await leaveSecond();
  });
});
