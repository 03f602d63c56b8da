/**
 * Calls by two plans on the same keys, from all processes at the same time. Some callers know of an
 * upgrade, and some do not, and no call announces it. The clock stands still. So the used tokens are the
 * sum of what was granted, held and settled by either plan. A plan has left its capacity less that sum.
 */
import type { RateLimitConfig } from "../../../server/index.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";

/** The tokens that the calls on one key have used. */
export interface PlanUse {
  /** Tokens that are used and cannot come back. */
  spent: number;
  /** Tokens of calls without an answer. These tokens may be used or not. */
  uncertain: number;
}

const PERIOD = 10_000 * 86_400_000;
const RATES = { free: 8, pro: 40 } as const;
const SHARED = { kind: "token bucket", period: PERIOD, holds: true } as const;
const LIMITS = { plans: { ...SHARED, plans: RATES } } as const;
/** How a call gives its terms: by a plan, or by a config with the same terms. */
type Terms = { plan: string } | { config: RateLimitConfig };
const FREE: readonly Terms[] = [{ plan: "free" }, { config: { ...SHARED, rate: RATES.free } }];
const PRO: readonly Terms[] = [{ plan: "pro" }, { config: { ...SHARED, rate: RATES.pro } }];
/** A call that ends a hold need not give its terms. */
const ANY: readonly (Terms | object)[] = [...FREE, ...PRO, {}];

/** How long a key is the newest, ms. */
const EVERY = 400;
/** On a clock that stands still, no hold lapses. */
const HOLD = { for: 60_000, then: "keep" } as const;
/** Keeps a seed short. */
const MOST_CALLS = 80;

export function createPlans(uses: Map<string, PlanUse>): Workload {
  return async (caller: Caller) => {
    const { member, random, timeline, tally } = caller;
    const now = member.frozen.clock();
    const limiter = member.limiter(LIMITS, () => now);
    const own = `${member.id} ${random.below(2 ** 31)}`;
    for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
      const key = `key ${Math.max(0, Math.floor(timeline.now / EVERY) - random.below(3))}`;
      const use = uses.get(key) ?? { spent: 0, uncertain: 0 };
      uses.set(key, use);
      try {
        if (random.chance(0.6)) await take(key, use);
        else await hold(key, use, `${own} ${i}`);
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "plans");
      }
      if (random.chance(0.5)) await member.sleep(random.below(EVERY / 4));
    }

    async function take(key: string, use: PlanUse, once?: string): Promise<number> {
      const plan = random.pick(["free", "pro"] as const);
      const terms = random.pick(plan === "free" ? FREE : PRO);
      const rate = RATES[plan];
      const count = random.between(1, 4);
      const { spent } = use;
      tally.note(once === undefined ? "plans: limit" : "plans: hold");
      use.uncertain += count;
      const { ok } = await limiter.limit("plans", {
        key,
        count,
        ...terms,
        ...(once !== undefined && { once, hold: HOLD }),
      });
      if (ok && spent + count > rate && !caller.hasLost()) {
        caller.report(`${count} of ${rate} were granted, of which ${spent} were spent`);
      }
      // Held tokens may come back.
      if (ok && once !== undefined) return count;
      use.uncertain -= count;
      if (ok) use.spent += count;
      return 0;
    }

    /** Either plan takes the tokens, and either plan settles them. */
    async function hold(key: string, use: PlanUse, once: string): Promise<void> {
      const count = await take(key, use, once);
      if (count === 0) return;
      await member.sleep(random.below(EVERY));
      const actual = random.between(0, count);
      tally.note("plans: settle");
      use.uncertain -= actual;
      use.spent += actual;
      const of = { key, once, ...random.pick(ANY) };
      const answer = await limiter.settle("plans", of, actual);
      // A call that failed is sent again, and may find that its first try has ended the hold.
      if (answer.settled || answer.reason === "settled" || answer.reason === "released") {
        use.uncertain -= count - actual;
      } else if (!caller.hasLost()) {
        caller.report(`${once} held ${count} of ${key}, and is ${answer.reason}`);
      }
    }
  };
}

/** The problem of a key; `undefined` if there is none. @param used the used tokens in its row. */
export function problemOf(key: string, use: PlanUse, used: number): string | undefined {
  const { spent, uncertain } = use;
  if (used < spent || used > spent + uncertain) {
    return `${used} tokens of ${key} are used, and ${spent} to ${spent + uncertain} were taken`;
  }
  return used > RATES.pro ? `${used} tokens of ${key} are used, of ${RATES.pro}` : undefined;
}
