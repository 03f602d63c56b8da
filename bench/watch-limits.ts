import { DAY, type RateLimitConfig } from "trpc-rate-limit/server";

const config: RateLimitConfig = { kind: "token bucket", rate: 1_000_000, period: 1000 * DAY };

/** One bucket per watcher, and one bucket that all watchers watch. */
export const limits = { own: config, everybody: config };
