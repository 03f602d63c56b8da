/**
 * `trpc-rate-limit/ai`: limits of language models, for the AI SDK, and the limits that their providers
 * report.
 */
export { type KeyAnswer, SHARED_BUCKET, type SharedBucket } from "../limiter/types/key-answer.js";
export { limitModel } from "./limit-model.js";
export type {
  LimitModelAllOptions,
  LimitModelOptions,
  ModelCallOptions,
  ModelFirst,
  ModelLimit,
  ModelLimiter,
  ModelLimits,
  ModelPayer,
  ModelSlots,
  ModelUnit,
  ProviderLimit,
} from "./limit-model-options.js";
export type {
  GenerateResultLike,
  ModelCall,
  ModelCallParams,
  ModelMiddleware,
  ModelUsage,
  StreamResultLike,
} from "./model-types.js";
export { rateLimitErrorOf } from "./rate-limit-error-of.js";
export {
  type HeadersLike,
  rateLimitOfHeaders,
  type RateLimitOfHeaders,
  type RateLimitOfHeadersOptions,
} from "./rate-limit-of-headers.js";
