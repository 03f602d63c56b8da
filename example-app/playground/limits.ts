/** The limit of the playground, and the numbers that visitors may choose for it. */
import { MINUTE, type RateLimitConfig } from "trpc-rate-limit";

export const playgroundLimits = {
  /** Each visitor chooses its numbers. The first numbers are these. */
  playground: { kind: "token bucket", rate: 30, period: MINUTE, capacity: 10, maxReserved: 10 },
  /** Choices of a limit. A moving slider makes three choices a second, so it is never denied. */
  playgroundChoices: { kind: "token bucket", rate: 600, period: MINUTE, capacity: 60 },
} as const satisfies Record<string, RateLimitConfig>;

/** These bounds keep one visitor from costing the server much. The form shows them. */
export const BOUNDS = {
  rate: { min: 0.1, max: 10_000 },
  /** ms */
  period: { min: 1_000, max: 600_000 },
  capacity: { min: 1, max: 10_000 },
  shards: { min: 1, max: 16 },
  /** ms; `undefined` for no block. */
  blockFor: { min: 1_000, max: 600_000 },
  /** Tokens of one call. */
  count: { min: 1, max: 10_000 },
} as const;
