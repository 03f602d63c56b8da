/** Two limiters on one store, as in two processes, with limits that are leased. */
import { setImmediate } from "node:timers/promises";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  type DecisionEvent,
  MINUTE,
  type RateLimitStore,
} from "../../server/index.js";

export const MS = 10_000;
export const CAPACITY = 6000;
/** How many tokens refill in the life of a block. */
export const REFILL = 1000;
export const hot = { kind: "token bucket", rate: 6000, period: MINUTE, lease: { ms: MS } } as const;
export const limits = {
  hot,
  window: { ...hot, kind: "fixed window", start: 0 },
  shadow: { ...hot, shadow: true },
  open: { ...hot, whenStoreFails: "allow" },
  plain: { kind: "token bucket", rate: 6000, period: MINUTE },
} as const;
type Name = keyof typeof limits;

export function processes(store: RateLimitStore, peer: RateLimitStore) {
  const clock = createManualClock();
  const events: DecisionEvent[] = [];
  const onDecision = (event: DecisionEvent) => void events.push(event);
  const options = { clock, limits, sleep: clock.sleep, autoPrune: false };
  const own = createRateLimiter({ store, ...options, onDecision });
  const other = createRateLimiter({ store: peer, ...options });
  return {
    clock,
    events,
    own,
    other,
    /** Calls until this process has a block with many tokens. */
    async warm(name: Name = "hot") {
      for (let i = 0; i < 60; i++) await own.limit(name);
      // The next block may be on its way.
      for (let i = 0; i < 20; i++) await setImmediate();
      return this.block(name);
    },
    row: async (name: Name = "hot") => (await other.getValue(name)).value,
    /** The tokens that this process has left in its blocks. */
    async block(name: Name = "hot") {
      return (await own.getValue(name)).value - (await other.getValue(name)).value;
    },
  };
}
