/** A limiter, and a second limiter on the same rows, as in another process. */
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  type DecisionEvent,
  type RateLimiterOptions,
} from "../../server/index.js";
import type { LimitConfigs } from "../../server/limiter/types/names.js";
import type { OpenStore } from "./stores.js";

/** Both limiters have the same clock. Time passes only when a test advances it. */
export async function twoProcesses<const TLimits extends LimitConfigs>(
  open: () => Promise<OpenStore>,
  limits: RateLimiterOptions<TLimits, unknown, never>["limits"],
) {
  const opened = await open();
  const clock = createManualClock();
  /** The events of both limiters, in order. */
  const events: DecisionEvent[] = [];
  const options = {
    clock,
    sleep: clock.sleep,
    limits,
    onDecision: (event: DecisionEvent) => void events.push(event),
  };
  return {
    clock,
    events,
    limiter: createRateLimiter<TLimits, unknown>({ store: opened.store, ...options }),
    peer: createRateLimiter<TLimits, unknown>({ store: opened.peer, ...options }),
    store: opened.store,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
