/** The limit of the chat. Each visitor has a bucket. */
import { MINUTE, type RateLimitConfig } from "trpc-rate-limit";

export const chatLimits = {
  /** Three messages at once, then one every six seconds. */
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
} as const satisfies Record<string, RateLimitConfig>;
