export { calculateRateLimit, type CalculatedRateLimit, type RateLimitState } from "./calculate.js";
export {
  type FixedWindowConfig,
  MAX_SHARDS,
  type PeriodicConfig,
  type RateLimitConfig,
  type TokenBucketConfig,
} from "./config.js";
export { decideRateLimit, type RateLimitDecision, type RateLimitResult } from "./decide.js";
export { DAY, HOUR, MINUTE, SECOND, WEEK } from "./durations.js";
export {
  isRateLimitError,
  RateLimitConfigError,
  type RateLimitDenial,
  RateLimitError,
  type RateLimitErrorData,
  RateLimitInputError,
  RateLimitStoreError,
} from "./errors.js";
export { MAX_KEY_LENGTH, validateKey } from "./validate-key.js";
export { type RateLimitSnapshot } from "./snapshot.js";
export { validateConfig } from "./validate-config.js";
