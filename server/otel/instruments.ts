/**
 * The instruments, named by the conventions of OpenTelemetry: namespaces with dots, durations in seconds,
 * and units in braces for counted things. The default buckets of a histogram fit milliseconds, so each
 * histogram here has its own buckets.
 */
import type { Meter } from "@opentelemetry/api";

/** Seconds, from the refill of a fast limit to the window of a day. */
const WAITS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];
/** Seconds. Most statements take a few ms, and calls give up after 2 s by default. */
const DURATIONS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Up to the most calls in one batch. */
const CALLS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export type Instruments = ReturnType<typeof createInstruments>;

export function createInstruments(meter: Meter) {
  return {
    decisions: meter.createCounter("rate_limit.decisions", {
      description: "Decisions of the limiter.",
      unit: "{decision}",
    }),
    actions: meter.createCounter("rate_limit.admin.actions", {
      description: "What operators have done to the limits of keys.",
      unit: "{action}",
    }),
    warnings: meter.createCounter("rate_limit.warnings", {
      description: "Levels of use that keys have crossed.",
      unit: "{warning}",
    }),
    wait: meter.createHistogram("rate_limit.denial.wait.duration", {
      description: "How long denied calls have to wait for their tokens.",
      unit: "s",
      advice: { explicitBucketBoundaries: WAITS },
    }),
    duration: meter.createHistogram("rate_limit.store.batch.duration", {
      description: "How long the store's batches take.",
      unit: "s",
      advice: { explicitBucketBoundaries: DURATIONS },
    }),
    calls: meter.createHistogram("rate_limit.store.batch.calls", {
      description: "Calls that share a batch of the store.",
      unit: "{call}",
      advice: { explicitBucketBoundaries: CALLS },
    }),
    conflicts: meter.createCounter("rate_limit.store.conflicts", {
      description: "Calls that the store decides again because of a conflict.",
      unit: "{conflict}",
    }),
  };
}
