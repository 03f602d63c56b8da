/**
 * Calls with an id (`once`). All processes send them at the same time, and again after a failure, as
 * retries and webhooks do. The bucket must have lost one token for each id that was charged.
 */
import { type Caller, isStoreFailure, type Workload } from "./context.js";

/** By id: how often it was charged, and whether a call for it got no answer. */
export type Retried = Map<string, { charged: number; uncertain: boolean }>;

const CAPACITY = 2 ** 30;
const PERIOD = 10_000 * 86_400_000;
const RETRIED = { kind: "token bucket", rate: CAPACITY, period: PERIOD } as const;
/** How long one id is the newest, ms. */
const EVERY = 100;
/** Keeps a seed short. */
const MOST_CALLS = 60;

export function createRetries(retried: Retried): Workload {
  return async (caller: Caller) => {
    const { member, random, timeline } = caller;
    const now = member.frozen.clock();
    const limiter = member.limiter({ retried: RETRIED }, () => now);
    for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
      const once = `id ${Math.max(0, Math.floor(timeline.now / EVERY) - random.below(3))}`;
      const of = retried.get(once) ?? { charged: 0, uncertain: false };
      retried.set(once, of);
      caller.tally.note("retry");
      try {
        const charging = random.chance(0.3);
        const answer = charging
          ? await limiter.charge("retried", { once })
          : await limiter.limit("retried", { once });
        if ("ok" in answer && !answer.ok) caller.report(`${once} was denied`);
        if (!("repeated" in answer)) of.charged++;
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "retry");
        of.uncertain = true;
      }
      if (random.chance(0.5)) await member.sleep(random.below(EVERY));
    }
  };
}

/**
 * The problem of the ids; `undefined` if there is none. @param used what the bucket has lost at the end.
 */
export function problemOf(retried: Retried, used: number = 0): string | undefined {
  let [least, most] = [0, 0];
  for (const [once, { charged, uncertain }] of retried) {
    if (charged > 1) return `${once} was charged ${charged} times`;
    least += charged;
    most += Math.max(charged, Number(uncertain));
  }
  if (used >= least && used <= most) return undefined;
  return `${used} tokens were taken for ${least} to ${most} ids`;
}
