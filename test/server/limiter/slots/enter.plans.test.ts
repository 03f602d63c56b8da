/** The slots that a larger plan has taken count for a call by a smaller one. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, type EnterResult, MINUTE } from "../../../../server/index.js";
import { racingStore } from "../../../support/racing-store.js";
import { stores, storesAndRedis } from "../../../support/stores.js";

const limits = {
  jobs: { kind: "concurrency", ttl: MINUTE, plans: { free: 1, team: 2, pro: 4 } },
} as const;
const plans = ["free", "team", "pro"] as const;
const key = "ada";

describe.each(storesAndRedis)("slots of several plans on %s", (_name, open) => {
  async function setUp() {
    const { store, peer, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    const make = (of: typeof store) =>
      createRateLimiter({ store: of as never, limits, plans, logger: false });
    return [make(store), make(peer)] as const;
  }
  const granted = (results: readonly EnterResult[]) => results.filter(({ ok }) => ok);
  const release = async (result: EnterResult | undefined) => {
    if (result?.ok) await result.release();
  };

  it("a smaller plan enters none while a larger one holds as many, whichever slots they are", async () => {
    const [limiter, other] = await setUp();
    const held = [];
    for (let i = 0; i < 4; i++) held.push(await limiter.enter("jobs", { key, plan: "pro" }));
    expect(granted(held)).toHaveLength(4);
    for (const plan of ["free", "team"] as const) {
      expect(await other.getValue("jobs", { key, plan })).toMatchObject({ value: 0 });
      const denied = await other.enter("jobs", { key, plan });
      expect(denied).toMatchObject({ ok: false, value: 0 });
      if (!denied.ok) expect(denied.retryAfter).toBeGreaterThan(0);
    }
    // Three are held, then two, then one.
    await release(held[0]);
    await release(held[1]);
    expect(await other.check("jobs", { key, plan: "team" })).toMatchObject({ ok: false });
    expect(await other.enter("jobs", { key, plan: "team" })).toMatchObject({ ok: false });
    await release(held[2]);
    expect(await other.check("jobs", { key, plan: "team" })).toMatchObject({ ok: true, value: 1 });
    expect(await other.enter("jobs", { key, plan: "free" })).toMatchObject({ ok: false });
    const own = await other.enter("jobs", { key, plan: "team" });
    expect(own).toMatchObject({ ok: true, value: 0 });
    await release(held[3]);
    await release(own);
    expect(await other.enter("jobs", { key, plan: "free" })).toMatchObject({ ok: true });
  });

  it("a call that waits enters when as few are held as its plan may have", async () => {
    const [limiter, other] = await setUp();
    const held = [];
    for (let i = 0; i < 3; i++) held.push(await limiter.enter("jobs", { key, plan: "pro" }));
    let isIn = false;
    let place: Promise<unknown> | undefined;
    const waiting = new Promise<EnterResult>((resolve, reject) => {
      place = new Promise((joined) => {
        const options = { key, plan: "team", maxWait: 20_000, onPlace: joined } as const;
        other.enter("jobs", options).then(resolve, reject);
      });
    }).finally(() => (isIn = true));
    await place;
    expect(isIn).toBe(false);
    await release(held[0]);
    await release(held[1]);
    expect(await waiting).toMatchObject({ ok: true });
    await release(await waiting);
    await release(held[2]);
  });
});

describe.each(stores)("slots of several plans on %s, in a race", (_name, open) => {
  it("a smaller plan never has more at once than it may, beside what a larger one holds", async () => {
    await using opened = await open();
    const { store, race } = racingStore(opened.store);
    const limiter = createRateLimiter({ store, limits, plans });
    const peer = createRateLimiter({ store: opened.peer, limits, plans });
    for (let round = 0; round < 20; round++) {
      // In any of the four slots, two of which the smaller plan does not have.
      const pro = await peer.enter("jobs", { key, plan: "pro" });
      const team: EnterResult[] = [];
      race.meanwhile = async () => team.push(await peer.enter("jobs", { key, plan: "team" }));
      team.push(await limiter.enter("jobs", { key, plan: "team" }));
      expect(team.map(({ ok }) => ok)).toEqual([true, false]);
      for (const result of [pro, ...team]) if (result.ok) await result.release();
    }
  });
});
