import { metrics } from "@opentelemetry/api";
import { rateLimitMetrics } from "trpc-rate-limit/otel";
import { createRateLimiter, HOUR, memoryStore } from "trpc-rate-limit/server";

const seen: string[] = [];
const instrument = (name: string) => ({
  add: (_: number, attributes?: Record<string, unknown>) =>
    seen.push(`${name} ${String(attributes?.["rate_limit.outcome"])}`),
  record: () => seen.push(name),
});
const meter = { createCounter: instrument, createHistogram: instrument } as never;
metrics.setGlobalMeterProvider({ getMeter: () => meter });
const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
  ...rateLimitMetrics(),
});
const first = await limiter.limit("few", { key: "ann" });
const second = await limiter.limit("few", { key: "ann" });
const isSeen =
  seen.includes("rate_limit.decisions granted") && seen.includes("rate_limit.decisions denied");
console.log(
  isSeen ? `${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}` : seen,
);
