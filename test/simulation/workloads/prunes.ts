/**
 * Deletes full rows while others call: now and then by hand, and by `autoPrune`. The answers to the other
 * callers must still be explained.
 */
import { FROZEN, isStoreFailure, type Workload } from "./context.js";

/** How often, ms. */
const EVERY = 300;

export const prunes: Workload = async (caller) => {
  const { member, random, tally, timeline } = caller;
  const controller = new AbortController();
  const begunAt = member.frozen.clock() - timeline.now;
  // The buckets of these limits take days to refill, so this clock may run. The clock must run, because
  // prunes take turns by the time.
  member.limiter(FROZEN, () => begunAt + timeline.now, {
    every: EVERY,
    signal: controller.signal,
  });
  while (caller.isOn()) {
    tally.note("prune");
    try {
      const limiter = random.chance(0.7) ? member.frozen : member.live;
      await caller.timed("prune", 20_000, () => limiter.prune());
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      caller.failed(error, "prune");
    }
    await member.sleep(random.below(400));
  }
  controller.abort();
};
