export {
  denialOf,
  isRateLimitError,
  type RateLimitConfig,
  type RateLimitDenial,
  type RateLimitErrorData,
  type RateLimitSnapshot,
} from "../../core/index.js";
export {
  predictFirst,
  type FirstPrediction,
  type PredictableLimit,
  type PredictFirstOptions,
} from "../predict-first.js";
export type { LimitedCallsOptions } from "../limited-calls.js";
export { rateLimitRetry, rateLimitRetryDelay } from "../rate-limit-retry.js";
export { shareStream, type ShareStreamOptions } from "../share-stream.js";
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
} from "../types.js";
export { createFetchTransport } from "./create-fetch-transport.js";
export { createRateLimitObserver, type UrlObserverOptions } from "./create-rate-limit-observer.js";
export { inspectRateLimits } from "./inspect-rate-limits.js";
export type { AnyLimits, LimitNameOf, WithLimits } from "./limit-names.js";
export {
  type LimitedRequest,
  rateLimitFetch,
  type RateLimitFetchOptions,
  type RequestLimit,
} from "./rate-limit-fetch.js";
export type {
  EventSourceConstructor,
  EventSourceInit,
  EventSourceLike,
  FetchTransportOptions,
} from "./types.js";
