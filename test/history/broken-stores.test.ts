import { describe, expect, it } from "vitest";
import type { RateLimitStore } from "../../server/index.js";
import {
  doublingStore,
  forgetfulStore,
  soundStore,
  staleStore,
  tornStore,
  unguardedStore,
} from "./broken-stores.js";
import { checkHistory, type Verdict } from "./check-history.js";
import { describeContradiction } from "./contradiction.js";
import type { Operation } from "./operation.js";
import { CAPACITY, frozenLimiter, record } from "./recorder.js";

const SEEDS = Array.from({ length: 5 }, (_, seed) => seed);

/** Six callers of one process, on a clock that counts its readings: nothing here is up to chance. */
async function verdictOn(store: RateLimitStore, seed: number): Promise<Verdict> {
  const history: Operation[] = [];
  let [time, left] = [0, 300];
  await record(frozenLimiter(store), {
    process: "1",
    seed,
    callers: 6,
    clock: () => ++time,
    write: (operation) => history.push(operation),
    goesOn: () => left-- > 0,
  });
  return checkHistory(history, CAPACITY);
}

describe("the checker", () => {
  it("explains what a sound store answers", async () => {
    for (const seed of SEEDS) {
      const verdict = await verdictOn(soundStore(), seed);
      if (!verdict.ok) expect.fail(describeContradiction(verdict.contradiction));
      expect(verdict.orders.flat()).toHaveLength(300);
    }
  });

  it.each([
    ["writes without a guard", unguardedStore],
    ["denies on a stale read", staleStore],
    ["writes again after an unknown outcome", doublingStore],
    ["loses a write that it confirmed", forgetfulStore],
    ["tears apart what belongs together", tornStore],
  ])("catches a store that %s, every time", async (_, brokenStore) => {
    for (const seed of SEEDS) {
      const verdict = await verdictOn(brokenStore(), seed);
      expect(verdict.ok).toBe(false);
      if (!verdict.ok) expect(verdict.contradiction.operations.length).toBeLessThan(40);
    }
  });
});
