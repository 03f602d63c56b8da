"use client";
export { isRateLimitError } from "../../../core/errors.js";
export {
  type CountdownLabels,
  type CountdownWords,
  RateLimitCountdown,
  type RateLimitCountdownProps,
  useCountdown,
} from "../../countdown/index.js";
export { isWaitCancelled } from "../../react/held-calls.js";
export type {
  LimitHooksOptions,
  LiveProps,
  ObservedProps,
  RateLimitHooks,
  RateLimitMeterProps,
} from "../../react/limit-hooks.js";
export type { UseRateLimitOptions, UseRateLimitResult } from "../../react/use-limit.js";
export type {
  RateLimitedMutationState,
  UseRateLimitedMutationOptions,
  UseRateLimitedMutationResult,
} from "../../react/use-limited-mutation.js";
export type {
  CheckedRateLimit,
  ConnectionState,
  LiveMode,
  RateLimitObserver,
  RateLimitStatus,
  WhenLimited,
} from "../../types.js";
export {
  createRateLimitReact,
  type FetchProviderProps,
  type FetchReact,
  type FetchReactOptions,
} from "./create-rate-limit-react.js";
export type { RateLimitedAction, RateLimitedActionOptions } from "./use-limited-action.js";
export type { RateLimitButtonProps, ShownButton } from "./rate-limit-button.js";
