/** The limit of the sign-ups. All visitors share one bucket: see `key` in shared/server/trpc.ts. */
import { MINUTE, type RateLimitConfig } from "trpc-rate-limit";

export const signUpLimits = {
  /** A hundred accounts in five minutes, for all visitors together. */
  signUp: { kind: "fixed window", rate: 100, period: 5 * MINUTE, start: 0 },
} as const satisfies Record<string, RateLimitConfig>;
