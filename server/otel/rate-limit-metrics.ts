/**
 * The listeners that record what a limiter does as metrics. No attribute holds a key: there may be
 * millions of keys, and many keys are personal data.
 */
import { type Meter, metrics } from "@opentelemetry/api";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import type { DecisionEvent } from "../limiter/types/limiter-options.js";
import { isOperatorAction } from "../limiter/parts/operator-actions.js";
import type { BatchEvent } from "../store/batch-event.js";
import { createInstruments, type Instruments } from "./instruments.js";
import { outcomeOf } from "./outcome.js";

/** The options of `rateLimitMetrics`. */
export interface RateLimitMetricsOptions {
  /**
   * Creates the instruments.
   * @default the meter `trpc-rate-limit` of the meter provider that is registered at the first event
   */
  meter?: Meter | undefined;
}

/** Listeners for the options of `createRateLimiter`. Both methods can be called without an object. */
export interface RateLimitMetrics {
  /**
   * Records a decision in `rate_limit.decisions`, with the attributes `rate_limit.name`,
   * `rate_limit.action` and `rate_limit.outcome` (`granted`, `reserved`, `denied`, `shadow_denied`,
   * `store_failed` or `disabled`), with `rate_limit.plan` for a limit with plans, with
   * `rate_limit.remembered` for a denial from memory, and with `rate_limit.repeated` for an id that was
   * charged before (`once`). Records the wait of a denial in `rate_limit.denial.wait.duration`, with the
   * same attributes. An operator's action is no decision of a call. The action is recorded in
   * `rate_limit.admin.actions` alone, with `rate_limit.name`, `rate_limit.action` and `rate_limit.plan`,
   * and never with the operator. A level of `warnAt` that was crossed is recorded in `rate_limit.warnings`
   * alone, with `rate_limit.name` and `rate_limit.level`.
   */
  onDecision(event: DecisionEvent): void;
  /**
   * Records a batch in `rate_limit.store.batch.duration` and `rate_limit.store.batch.calls`, and its
   * conflicts in `rate_limit.store.conflicts`, with the attribute `rate_limit.store.way`. The
   * duration of a failed batch has `error.type`, too.
   */
  onBatch(event: BatchEvent): void;
}

const OPTIONS = namesOf<RateLimitMetricsOptions>({ meter: true });

/**
 * Metrics of a limiter, through OpenTelemetry. Spread the listeners into the options of the limiter:
 * `createRateLimiter({ store, limits, ...rateLimitMetrics() })`. Limiters that share a store all get the
 * events of its batches, so give `onBatch` to one limiter only.
 *
 * @throws RateLimitConfigError for an unknown option.
 *
 * @example
 * import { rateLimitMetrics } from "trpc-rate-limit/otel";
 * import { createRateLimiter, MINUTE, prismaStore } from "trpc-rate-limit/server";
 *
 * const measured = createRateLimiter({
 *   store: prismaStore(prisma),
 *   limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
 *   ...rateLimitMetrics(),
 * });
 */
export function rateLimitMetrics(options: RateLimitMetricsOptions = {}): RateLimitMetrics {
  rejectUnknownOptions(options, OPTIONS, "rateLimitMetrics()");
  const { meter } = options;
  let created: Instruments | undefined;
  // Create the instruments at the first event. Limiters are often created before the SDK is started, and
  // a meter from before the start never records anything.
  const instruments = () =>
    (created ??= createInstruments(meter ?? metrics.getMeter("trpc-rate-limit")));

  return {
    onDecision({ name, action, plan, result, level }) {
      const { decisions, actions, warnings, wait: waits } = instruments();
      const about = {
        "rate_limit.name": name,
        "rate_limit.action": action,
        // An attribute may have few values only: the limiter has few plans.
        ...(plan !== undefined && { "rate_limit.plan": plan }),
      };
      if (action === "warn") {
        warnings.add(1, { "rate_limit.name": name, "rate_limit.level": level! });
        return;
      }
      if (isOperatorAction(action)) {
        actions.add(1, about);
        return;
      }
      const { outcome, wait } = outcomeOf(result);
      const attributes = {
        ...about,
        "rate_limit.outcome": outcome,
        ...(!result.ok && result.remembered && { "rate_limit.remembered": true }),
        ...(result.ok && result.repeated && { "rate_limit.repeated": true }),
      };
      decisions.add(1, attributes);
      if (wait !== undefined) waits.record(wait / 1000, attributes);
    },
    onBatch({ way, calls, duration, conflicts, failed }) {
      const { duration: durations, calls: sizes, conflicts: lost } = instruments();
      const attributes = { "rate_limit.store.way": way };
      const error = failed && { "error.type": "RateLimitStoreError" };
      durations.record(duration / 1000, { ...attributes, ...error });
      sizes.record(calls, attributes);
      if (conflicts > 0) lost.add(conflicts, attributes);
    },
  };
}
