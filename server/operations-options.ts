/** The dependencies of a limiter's methods. */
import type { RateLimitResult } from "../core/decide.js";
import type { KeyOptions, LimitConfigs } from "./call-options.js";
import type { DecisionEvent, RateLimiterOptions } from "./limiter-types.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import type { Environment, LimitRequest } from "./take.js";
import type { Executor } from "./with-deadline.js";

export interface OperationsOptions extends Executor {
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  environment: Environment;
  /** Whether `whenStoreFails` counts. Not in a transaction, which the failure has ended. */
  mayFailOpen: boolean;
  onDecision: RateLimiterOptions<LimitConfigs, never>["onDecision"];
  onChange(name: string, key: string | undefined): void;
  /** Receives a function that undoes what a result remembers of its settlement. */
  onSettle?(undo: () => void): void;
}

/** Tells `onDecision` about an answer, and the listeners of changes that a row has changed. */
export type Report = (
  action: DecisionEvent["action"],
  request: Pick<LimitRequest, "limit" | "count">,
  result: RateLimitResult,
  isChange: boolean,
) => void;
