export {
  calculateRateLimit,
  isRateLimitError,
  type RateLimitConfig,
  type RateLimitErrorData,
  type RateLimitSnapshot,
} from "../core/index.js";
export type { ConnectionState } from "./connection.js";
export {
  createRateLimitObserver,
  type RateLimitObserver,
  type RateLimitObserverOptions,
  type SnapshotCache,
} from "./observer.js";
export type { LimitUse } from "./known-refusals.js";
export type { CheckedRateLimit, RateLimitStatus } from "./prediction.js";
export { rateLimitLink, type RateLimitLinkOptions } from "./rate-limit-link.js";
export { rateLimitRetry, rateLimitRetryDelay } from "./rate-limit-retry.js";
export {
  createTRPCTransport,
  type RateLimitItem,
  type RateLimitTransport,
  type WatchHandlers,
} from "./transport.js";
