/**
 * Callers of limits that refill, on the clock of the database. In no span may more be granted than the
 * capacity and what refills in the span. A caller that is told to wait, and waits, must be served if no
 * other caller takes tokens.
 */
import {
  type Caller,
  isStoreFailure,
  LIVE,
  type LiveName,
  type ShownName,
  type Workload,
} from "./context.js";

/** A call that was granted. */
export interface Grant {
  name: ShownName;
  key: string;
  count: number;
  start: number;
  /** `Infinity`: it is unknown whether the call was granted. */
  end: number;
}

export function createLive(grants: Grant[]): Workload {
  return async (caller) => {
    const { member, random, timeline, tally } = caller;
    const names = Object.keys(LIVE) as LiveName[];
    while (caller.isOn()) {
      const name = random.pick(names);
      const key = `${name} ${random.below(3)}`;
      const count = random.chance(0.8) ? 1 : 2;
      const start = timeline.now;
      tally.note("live limit");
      try {
        const { ok } = await caller.timed("live limit", 2000, () =>
          member.live.limit(name, { key, count }),
        );
        if (ok) grants.push({ name, key, count, start, end: timeline.now });
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "live limit");
      }
      await member.sleep(random.below(400));
    }
  };
}

/** A caller that waits as long as it was told is served, to the ms. Only without faults. */
export const waits: Workload = async (caller) => {
  const { member, random, tally, timeline } = caller;
  const names = ["quick", "hourly", "closing"] as const;
  const name = random.pick(names);
  const key = `waits ${member.id} ${random.below(2 ** 31)}`;
  while (caller.isOn()) {
    tally.note("wait");
    await once().catch((error: unknown) => {
      if (!isStoreFailure(error)) throw error;
      caller.failed(error, "wait");
    });
  }

  async function once(): Promise<void> {
    const before = member.live.clock();
    const result = await member.live.limit(name, { key });
    if (result.ok) return;
    const { retryAfter } = result;
    // The time of the decision is at most the time of the answer. The process knows the clock of the
    // database to within a round trip.
    const slack = member.live.clock() - before + caller.clockError;
    if (retryAfter > 3 * slack && name !== "closing") {
      await member.sleep(retryAfter - 2 * slack - 1);
      const early = await member.live.check(name, { key });
      // The answer itself may have taken long.
      const isEarly = member.live.clock() < before + retryAfter;
      if (early.ok && isEarly) caller.report(`${name} was served before its retryAfter`);
    }
    await member.sleep(Math.max(0, before + slack + retryAfter - member.live.clock()) + slack);
    const predicted = await predict(caller, name, key);
    const next = await member.live.check(name, { key });
    if (!next.ok) {
      caller.report(
        `${name} was not served after its retryAfter of ${retryAfter} ms, at ${timeline.now}`,
      );
    }
    if (predicted !== next.ok) caller.report(`${name} was predicted otherwise`);
  }
};

/** The prediction of a page: the arithmetic of `core` on the server's snapshot. */
async function predict({ member }: Caller, name: LiveName, key: string): Promise<boolean> {
  const [snapshot] = await member.live.snapshots([{ name, key }]);
  const { calculateRateLimit } = member.shipped;
  return calculateRateLimit(snapshot!, snapshot!.config, member.live.clock(), 1).value >= 0;
}
