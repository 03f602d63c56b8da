/** The limits of the pretend customers, which count who used how much. */
import { DAY, MINUTE, SECOND, type RateLimitConfig } from "trpc-rate-limit";

/** By the minute, so that the chart has bars soon. */
const usage = { every: MINUTE, keep: 7 * DAY };

export const controlRoomLimits = {
  /** Ten at once, then one every six seconds. */
  apiCalls: { kind: "token bucket", rate: 10, period: MINUTE, usage },
  /** Each customer exports a few files, and then waits for the next window. */
  exports: { kind: "fixed window", rate: 3, period: 90 * SECOND, usage },
} as const satisfies Record<string, RateLimitConfig>;

/**
 * The limits that the control room shows: those of the customers, and two of the visitor that the page
 * shows at once.
 */
export const SHOWN = new Set(["apiCalls", "exports", "sendHello", "sendMessage"]);
