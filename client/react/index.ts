"use client";
export { isRateLimitError } from "../../core/errors.js";
export type { ConnectionState } from "../connection.js";
export type { RateLimitStatus } from "../observer.js";
export type { CheckedRateLimit } from "../prediction.js";
export {
  createRateLimitReact,
  type RateLimitProviderProps,
  type RateLimitReactOptions,
  type UseRateLimitOptions,
  type UseRateLimitResult,
} from "./create-rate-limit-react.js";
export type { LimitNames } from "./limit-names.js";
export { RateLimitCountdown, type RateLimitCountdownProps } from "./rate-limit-countdown.js";
export { useCountdown } from "./use-countdown.js";
