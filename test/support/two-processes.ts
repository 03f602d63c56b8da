/** A limiter, and a second limiter on the same rows, as in another process. */
import { onTestFinished } from "vitest";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  type DecisionEvent,
  type RateLimiterOptions,
} from "../../server/index.js";
import type { LimitConfigs } from "../../server/limiter/types/names.js";
import type { OpenOptions, OpenStore } from "./stores.js";

type Shared = "flushUsage" | "hashKey" | "overrides" | "random" | "timeout";

interface ProcessOptions extends OpenOptions, Pick<RateLimiterOptions<LimitConfigs>, Shared> {
  /** The time of both limiters at first, epoch ms. */
  now?: number;
}

/**
 * Both limiters have the same clock. Time passes only when a test advances it. Their store is closed with
 * the test.
 */
export async function twoProcesses<const TLimits extends LimitConfigs>(
  open: (options?: OpenOptions) => Promise<OpenStore>,
  limits: RateLimiterOptions<TLimits, unknown, never>["limits"],
  { now, isNew = false, ...more }: ProcessOptions = {},
) {
  const opened = await open({ isNew });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const clock = createManualClock(now);
  /** The events of both limiters, in order. */
  const events: DecisionEvent[] = [];
  const options = {
    ...more,
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
  };
}
