"use client";
export { isRateLimitError } from "../../core/errors.js";
export {
  type CountdownLabels,
  type CountdownWords,
  RateLimitCountdown,
  type RateLimitCountdownProps,
  useCountdown,
} from "../countdown/index.js";
export type { LimitNames } from "../limit-names.js";
export type { ClientWithLimits } from "../trpc-clients.js";
export type {
  CheckedRateLimit,
  ConnectionState,
  LiveMode,
  RateLimitObserver,
  RateLimitStatus,
  WhenLimited,
} from "../types.js";
export {
  createRateLimitReact,
  type RateLimitProviderProps,
  type RateLimitReact,
  type RateLimitReactOptions,
} from "./create-rate-limit-react.js";
export { isWaitCancelled } from "./held-calls.js";
export type {
  LimitHooksOptions,
  LiveProps,
  ObservedProps,
  RateLimitHooks,
  RateLimitMeterProps,
} from "./limit-hooks.js";
export type { UseRateLimitOptions, UseRateLimitResult } from "./use-limit.js";
export type {
  RateLimitedMutationState,
  UseRateLimitedMutationOptions,
  UseRateLimitedMutationResult,
} from "./use-limited-mutation.js";
