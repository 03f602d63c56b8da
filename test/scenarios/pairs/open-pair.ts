/** Two processes with limiters on the same rows, whose limit has two features. */
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  type RateLimitStore,
  RateLimitStoreError,
} from "../../../server/index.js";
import type { JoinedStore } from "../../../server/store/store.js";
import {
  configOf,
  type Feature,
  limitsOf,
  nextVersion,
  ONCE_FOR,
  type Pair,
  planned,
  PLANS,
} from "./features.js";

/** A store that fails while `isOut` says so, in the middle of a transaction, too. */
function brittle(inner: RateLimitStore, isOut: () => boolean): RateLimitStore {
  const unlessOut = <TResult>(run: () => Promise<TResult>) =>
    isOut() ? Promise.reject(new RateLimitStoreError("away", { isOutage: true })) : run();
  const rows = (of: JoinedStore): JoinedStore => ({
    apply: (decisions, call) => unlessOut(() => of.apply(decisions, call)),
    list: (...from) => of.list!(...from),
  });
  return {
    ...rows(inner),
    overrides: inner.overrides,
    names: () => inner.names!(),
    using: (tx) => rows(inner.using!(tx)),
    transaction: (run, options) =>
      unlessOut(() => inner.transaction!((tx, of) => run(tx, rows(of)), options)),
  };
}

/** Opens the limiters of both processes. */
export function openPair(pair: Pair, variant: number, inner: RateLimitStore, isOut = () => false) {
  const has = (feature: Feature) => pair.includes(feature);
  const config = configOf(pair, variant);
  const isRolling = has("rolling deployment");
  const byPlan = has("plan");
  const versions = [config, isRolling ? nextVersion(config) : config];
  // Calls of the next version have the same plan, which has half as much there.
  const planOf = (by: number) => PLANS[isRolling ? 0 : by]!;
  const configs = [config, isRolling || byPlan ? nextVersion(config) : config];
  const clock = createManualClock();
  const store = brittle(inner, isOut);
  const limiters = versions.map((each, by) =>
    createRateLimiter({
      store,
      clock,
      // The end of a hold is tried again in an outage.
      sleep: async () => {},
      limits: limitsOf(byPlan ? planned(each) : each, isRolling && by === 1 ? 3 : 2),
      ...(byPlan && { plans: PLANS, plan: async () => planOf(by) }),
      onceFor: ONCE_FOR,
      logger: false,
      ...(has("override") ? { overrides: true as const, overridesFor: 0 } : {}),
    }),
  );
  return { has, config, configs, clock, store, limiters };
}

export type Opened = ReturnType<typeof openPair>["limiters"][number];
/** What there is of a limiter inside a transaction, too. */
export type Scope = Pick<Opened, "limit" | "settle" | "release">;
