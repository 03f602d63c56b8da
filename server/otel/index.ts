/** `trpc-rate-limit/otel`: the metrics of a limiter, for OpenTelemetry. */
export {
  rateLimitMetrics,
  type RateLimitMetrics,
  type RateLimitMetricsOptions,
} from "./rate-limit-metrics.js";
