/** The limit of the first part. The limit is small, so that a visitor sees it drain and come back. */
import { type RateLimitConfig, SECOND } from "trpc-rate-limit";

export const overviewLimits = {
  sendHello: { kind: "token bucket", rate: 1, period: 2 * SECOND, capacity: 5 },
} as const satisfies Record<string, RateLimitConfig>;
