export type { CalculatedRateLimit, RateLimitState } from "./calculate.js";
export { calculateRateLimit, resetAt } from "./calculate-anywhere.js";
export { MAX_RETRY_AFTER } from "./config.js";
export type {
  ConcurrencyConfig,
  CreditsConfig,
  FixedWindowConfig,
  LeaseConfig,
  LimitConfig,
  RateLimitConfig,
  TokenBucketConfig,
  UsageConfig,
} from "./limit-config.js";
export type { Bucket, PeriodicConfig, ShownConfig } from "./config.js";
export type { RateLimitResult, TakenShard } from "./decide.js";
export { denialOf } from "./denial-of.js";
export { DAY, HOUR, MINUTE, SECOND, WEEK } from "./durations.js";
export {
  type DenialMessage,
  isRateLimitError,
  RateLimitConfigError,
  type RateLimitDenial,
  RateLimitError,
  type RateLimitErrorData,
  RateLimitInputError,
  RateLimitStoreError,
} from "./errors.js";
export { levelOf } from "./levels.js";
export type { ResettableState } from "./reset-at.js";
export type { RateLimitSnapshot } from "./snapshot.js";
export { type TokensHeld, waitsInLine } from "./waits-in-line.js";
export { validateConfig } from "./validate-config.js";
export { waitInWords } from "./wait-in-words.js";
