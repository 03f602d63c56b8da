import { describe, expect, it } from "vitest";
import type { RateLimitStore } from "../../server/index.js";
import {
  duplicatingStore,
  lossyStore,
  correctStore,
  staleStore,
  tornStore,
  unguardedStore,
} from "./broken-stores.js";
import { checkHistory, type Verdict } from "./check-history.js";
import { describeContradiction } from "./contradiction.js";
import type { Operation } from "./operation.js";
import { CAPACITY, frozenLimiter, record } from "./recorder.js";

const SEEDS = Array.from({ length: 5 }, (_, seed) => seed);

/**
 * Records six callers of one process. The clock counts its readings, so every run gives the same history.
 */
async function checkStore(store: RateLimitStore, seed: number): Promise<Verdict> {
  const history: Operation[] = [];
  let [time, remainingCalls] = [0, 300];
  await record(frozenLimiter(store), {
    process: "1",
    seed,
    callers: 6,
    clock: () => ++time,
    write: (operation) => history.push(operation),
    shouldContinue: () => remainingCalls-- > 0,
  });
  return checkHistory(history, CAPACITY);
}

describe("checkHistory", () => {
  it("accepts the history of a correct store", async () => {
    for (const seed of SEEDS) {
      const verdict = await checkStore(correctStore(), seed);
      if (!verdict.ok) expect.fail(describeContradiction(verdict.contradiction));
      expect(verdict.orders.flat()).toHaveLength(300);
    }
  });

  it.each([
    ["writes without a guard", unguardedStore],
    ["denies on a stale read", staleStore],
    ["writes again after an unknown outcome", duplicatingStore],
    ["loses a write that it has confirmed", lossyStore],
    ["writes the rows of one decision one by one", tornStore],
  ])("rejects the history of a store that %s, for every seed", async (_, brokenStore) => {
    for (const seed of SEEDS) {
      const verdict = await checkStore(brokenStore(), seed);
      expect(verdict.ok).toBe(false);
      if (!verdict.ok) expect(verdict.contradiction.operations.length).toBeLessThan(40);
    }
  });
});
