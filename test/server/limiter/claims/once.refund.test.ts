/** Tokens of a call with an id that come back late, after the id was forgotten. */
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  daily: { kind: "fixed window", rate: 10, period: DAY, start: 0, onceFor: MINUTE },
} as const;
const key = "ada";
const IDS = "trpc-rate-limit:once:daily";

describe.each(stores)("all tokens of a call whose id has lapsed, on %s", (_, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    const first = await at.limiter.limit("daily", { key, count: 4, once: "a" });
    // The clocks of other servers may be a minute behind.
    at.clock.advance(2 * MINUTE);
    return {
      ...at,
      first,
      left: async () => (await at.limiter.getValue("daily", { key })).value,
      ids: async () => (await at.store.list!(IDS, undefined, 10)).length,
    };
  }

  it("come back after its row was pruned, by settle and by refund", async () => {
    const at = await setUp();
    expect(await at.limiter.prune()).toBe(1);
    expect(await at.ids()).toBe(0);
    await at.limiter.refund("daily", { key, count: 1, result: at.first });
    await at.limiter.settle(at.first, 0);
    expect(await at.left()).toBe(10);
    // That writes no id again.
    expect(await at.ids()).toBe(0);
  });

  it("come back after its row was pruned, in a transaction", async () => {
    const at = await setUp();
    await at.limiter.prune();
    await at.limiter.transaction(({ settle }) => settle(at.first, 0));
    expect([await at.left(), await at.ids()]).toEqual([10, 0]);
  });

  it("come back, and a later call with the same id keeps its own", async () => {
    const at = await setUp();
    const later = await at.peer.limit("daily", { key, count: 3, once: "a" });
    expect(later).not.toHaveProperty("repeated");
    await at.limiter.settle(at.first, 0);
    expect(await at.left()).toBe(7);
    const again = await at.limiter.limit("daily", { key, count: 3, once: "a" });
    expect(again).toEqual({ ...later, repeated: true });
    await at.peer.settle(later, 0);
    expect([await at.left(), await at.ids()]).toEqual([10, 0]);
  });
});
