export {
  type DenialMessage,
  isRateLimitError,
  type RateLimitConfig,
  type RateLimitDenial,
  type RateLimitErrorData,
  type RateLimitSnapshot,
} from "../core/index.js";
export { inspectRateLimits } from "./inspect-rate-limits.js";
export { createRateLimitObserver } from "./observer.js";
export {
  predictFirst,
  type FirstPrediction,
  type PredictableLimit,
  type PredictFirstOptions,
} from "./predict-first.js";
export { rateLimitLink, type RateLimitLinkOptions } from "./rate-limit-link.js";
export type { LimitedCallsOptions } from "./limited-calls.js";
export { rateLimitRetry, rateLimitRetryDelay } from "./rate-limit-retry.js";
export { shareStream, type ShareStreamOptions } from "./share-stream.js";
export { withOnceId } from "./with-once-id.js";
export { createTRPCTransport } from "./transport.js";
export type { ClientLimitName, TRPCClientLike } from "./trpc-clients.js";
export type {
  CheckedRateLimit,
  ConnectionState,
  InspectedLimit,
  LimitUse,
  LinkedLimit,
  LiveMode,
  ObserverInspection,
  RateLimitItem,
  RateLimitObserver,
  RateLimitObserverOptions,
  RateLimitStatus,
  RateLimitTransport,
  SnapshotCache,
  WatchHandlers,
  WhenLimited,
} from "./types.js";
