/** The metrics that OpenTelemetry's own SDK exports for a limiter. */
import { type Meter, metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { rateLimitMetrics } from "../../../server/otel/index.js";
import {
  createRateLimiter,
  HOUR,
  type LimitConfigs,
  memoryStore,
  MINUTE,
  prismaStore,
  RateLimitStoreError,
  SECOND,
} from "../../../server/index.js";
import { createSqlite } from "../../support/database.js";

const limits = {
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 2 },
  llmTokens: { kind: "token bucket", rate: 1, period: SECOND, maxReserved: 10 },
} as const;

type Attributes = Record<string, unknown>;

/** A limiter in memory, on a clock that stands still, with metrics. */
function measured<const TLimits extends LimitConfigs>(meter: Meter, named: TLimits) {
  const clock = createManualClock();
  return createRateLimiter({
    store: memoryStore(),
    limits: named,
    clock,
    ...rateLimitMetrics({ meter }),
  });
}

/** The SDK with an exporter into memory. */
function startSdk() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: MINUTE });
  const provider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => provider.shutdown());

  async function exported() {
    exporter.reset();
    await provider.forceFlush();
    return exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  }
  async function metric(name: string) {
    const all = (await exported()).flatMap((scope) => scope.metrics);
    return all.find(({ descriptor }) => descriptor.name === name);
  }
  return {
    provider,
    meter: provider.getMeter("test"),
    exported,
    metric,
    /** The sums of a counter, with their attributes. */
    async sums(name: string): Promise<[Attributes, number][]> {
      const found = await metric(name);
      if (found?.dataPointType !== DataPointType.SUM) return [];
      return found.dataPoints.map(({ attributes, value }) => [attributes, value]);
    },
    /** The points of a histogram. Buckets without values are left out. */
    async histogram(name: string) {
      const found = await metric(name);
      if (found?.dataPointType !== DataPointType.HISTOGRAM) return [];
      return found.dataPoints.map(({ attributes, value: { count, sum = NaN, buckets } }) => {
        const { boundaries, counts } = buckets;
        const filled = counts.flatMap((n, i) => (n > 0 ? [[boundaries[i] ?? Infinity, n]] : []));
        return { attributes: attributes as Attributes, count, sum, buckets: filled };
      });
    },
  };
}

const decision = (name: string, outcome: string, action = "limit") => ({
  "rate_limit.name": name,
  "rate_limit.action": action,
  "rate_limit.outcome": outcome,
});

describe("the metrics of decisions", () => {
  let sdk: ReturnType<typeof startSdk>;
  beforeEach(() => {
    sdk = startSdk();
  });

  it("count the levels that calls cross, and none of them twice", async () => {
    const quota = { kind: "fixed window", rate: 4, period: HOUR, warnAt: [0.5, 1] } as const;
    const limiter = measured(sdk.meter, { quota });
    for (const key of ["ann", "ann", "ann", "ann", "ben", "ben"])
      await limiter.limit("quota", { key });
    expect(await sdk.sums("rate_limit.warnings")).toEqual([
      [{ "rate_limit.name": "quota", "rate_limit.level": 0.5 }, 2],
      [{ "rate_limit.name": "quota", "rate_limit.level": 1 }, 1],
    ]);
    expect(await sdk.sums("rate_limit.decisions")).toEqual([[decision("quota", "granted"), 6]]);
  });

  it("count decisions by name, action and outcome, and none of them has a key", async () => {
    const limiter = measured(sdk.meter, limits);
    for (const key of ["ann", "ben"]) {
      for (let call = 0; call < 3; call++) await limiter.limit("sendMessage", { key });
      await limiter.check("sendMessage", { key });
    }
    for (let call = 0; call < 2; call++) await limiter.limit("llmTokens", { reserve: true });
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [decision("sendMessage", "granted"), 4],
      [decision("sendMessage", "denied"), 2],
      [decision("sendMessage", "denied", "check"), 2],
      [decision("llmTokens", "granted"), 1],
      [decision("llmTokens", "reserved"), 1],
    ]);
    expect(JSON.stringify(await sdk.exported())).not.toMatch(/ann|ben/);
  });

  it("count what operators do apart from decisions, and without who did it to whom", async () => {
    const { onDecision } = rateLimitMetrics({ meter: sdk.meter });
    const denied = { ok: false, retryAfter: HOUR, value: 0 } as const;
    for (const action of ["ban", "exempt", "raise", "clear", "reset", "ban"] as const) {
      onDecision({ action, name: "sendMessage", key: "ann", count: 1, result: denied, by: "ben" });
    }
    const actions = await sdk.sums("rate_limit.admin.actions");
    expect(actions).toEqual(
      [2, 1, 1, 1, 1].map((count, i) => [
        {
          "rate_limit.name": "sendMessage",
          "rate_limit.action": ["ban", "exempt", "raise", "clear", "reset"][i],
        },
        count,
      ]),
    );
    expect(await sdk.sums("rate_limit.decisions")).toEqual([]);
    expect(await sdk.histogram("rate_limit.denial.wait.duration")).toEqual([]);
    expect(JSON.stringify(await sdk.exported())).not.toMatch(/ann|ben/);
  });

  it("tell the plans of a limit apart, and name none of a limit without plans", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      plans: ["free", "pro"],
      limits: {
        ...limits,
        pictures: { kind: "fixed window", period: HOUR, plans: { free: 1, pro: "unlimited" } },
      },
      clock: createManualClock(),
      ...rateLimitMetrics({ meter: sdk.meter }),
    });
    for (const plan of ["free", "free", "pro"] as const) {
      await limiter.limit("pictures", { key: "ann", plan });
    }
    await limiter.limit("sendMessage");
    const of = (plan: string, outcome: string) => ({
      ...decision("pictures", outcome),
      "rate_limit.plan": plan,
    });
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [of("free", "granted"), 1],
      [of("free", "denied"), 1],
      [of("pro", "granted"), 1],
      [decision("sendMessage", "granted"), 1],
    ]);
    expect(await sdk.histogram("rate_limit.denial.wait.duration")).toMatchObject([
      { attributes: of("free", "denied"), count: 1 },
    ]);
  });

  it("name the plan that an operator gives", async () => {
    const { onDecision } = rateLimitMetrics({ meter: sdk.meter });
    const result = { ok: true, value: 0, ts: 0 } as const;
    onDecision({ action: "plan", name: "pictures", key: "ann", plan: "pro", count: 1, result });
    expect(await sdk.sums("rate_limit.admin.actions")).toEqual([
      [{ "rate_limit.name": "pictures", "rate_limit.action": "plan", "rate_limit.plan": "pro" }, 1],
    ]);
  });

  it("tell denials from memory from the others", async () => {
    const { sendMessage } = limits;
    const limiter = measured(sdk.meter, {
      sendMessage: { ...sendMessage, rememberDenials: MINUTE },
    });
    for (let call = 0; call < 7; call++) await limiter.limit("sendMessage");
    const denied = decision("sendMessage", "denied");
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [decision("sendMessage", "granted"), 2],
      [denied, 1],
      [{ ...denied, "rate_limit.remembered": true }, 4],
    ]);
    expect(await sdk.histogram("rate_limit.denial.wait.duration")).toMatchObject([
      { attributes: denied, count: 1 },
      { attributes: { ...denied, "rate_limit.remembered": true }, count: 4 },
    ]);
  });

  it("count each limit of limitAll", async () => {
    const limiter = measured(sdk.meter, limits);
    const both = [{ name: "sendMessage" }, { name: "llmTokens" }] as const;
    for (let call = 0; call < 2; call++) await limiter.limitAll(both);
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [decision("sendMessage", "granted"), 1],
      [decision("llmTokens", "granted"), 1],
      // Not the other limit, which had tokens.
      [decision("llmTokens", "denied"), 1],
    ]);
  });

  it("have the waits of denials in seconds, in buckets that fit them", async () => {
    const limiter = measured(sdk.meter, limits);
    for (let call = 0; call < 3; call++) await limiter.limit("sendMessage");
    // 10 a minute: the next token comes in 6 s.
    expect(await sdk.histogram("rate_limit.denial.wait.duration")).toEqual([
      { attributes: decision("sendMessage", "denied"), count: 1, sum: 6, buckets: [[10, 1]] },
    ]);
    expect((await sdk.metric("rate_limit.denial.wait.duration"))!.descriptor.unit).toBe("s");
  });

  it("count what a limit in shadow mode would have denied, and how long that call would have waited", async () => {
    const limiter = measured(sdk.meter, {
      watched: { ...limits.sendMessage, shadow: true, maxReserved: 1 },
    });
    for (let call = 0; call < 3; call++) await limiter.limit("watched");
    // It would have had to wait, and the caller is not told so.
    await limiter.limit("watched", { reserve: true });
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [decision("watched", "granted"), 3],
      [decision("watched", "shadow_denied"), 1],
    ]);
    expect(await sdk.histogram("rate_limit.denial.wait.duration")).toMatchObject([
      { attributes: decision("watched", "shadow_denied"), count: 1, sum: 6 },
    ]);
  });

  it("count calls that were let through because the store failed", async () => {
    const apply = async () => Promise.reject(new RateLimitStoreError("no connection"));
    const limiter = createRateLimiter({
      store: { apply },
      limits: { open: { ...limits.sendMessage, whenStoreFails: "allow" }, ...limits },
      logger: false,
      ...rateLimitMetrics({ meter: sdk.meter }),
    });
    await limiter.limit("open");
    await expect(limiter.limit("sendMessage")).rejects.toThrow("no connection");
    expect(await sdk.sums("rate_limit.decisions")).toEqual([[decision("open", "store_failed"), 1]]);
  });

  it("count calls that passed while the limits were off", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      enabled: false,
      logger: false,
      ...rateLimitMetrics({ meter: sdk.meter }),
    });
    await limiter.limit("sendMessage");
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [decision("sendMessage", "disabled"), 1],
    ]);
  });

  it("count charges, and those that leave a debt as reserved", async () => {
    const limiter = measured(sdk.meter, limits);
    for (let call = 0; call < 2; call++) await limiter.charge("llmTokens");
    expect(await sdk.sums("rate_limit.decisions")).toEqual([
      [decision("llmTokens", "granted", "charge"), 1],
      [decision("llmTokens", "reserved", "charge"), 1],
    ]);
    expect(await sdk.histogram("rate_limit.denial.wait.duration")).toEqual([]);
  });
});

describe("the metrics of a store", () => {
  it("have the durations, calls and failures of its batches by way", async () => {
    await using database = await createSqlite();
    const sdk = startSdk();
    const limiter = createRateLimiter({
      store: prismaStore(database.prisma),
      limits,
      ...rateLimitMetrics({ meter: sdk.meter }),
    });
    await limiter.limit("sendMessage");
    await Promise.all(["ann", "ben", "eve"].map((key) => limiter.check("sendMessage", { key })));
    const take = { "rate_limit.store.way": "take" };
    const read = { "rate_limit.store.way": "read" };
    expect(await sdk.histogram("rate_limit.store.batch.calls")).toEqual([
      { attributes: take, count: 1, sum: 1, buckets: [[1, 1]] },
      { attributes: read, count: 1, sum: 3, buckets: [[4, 1]] },
    ]);
    const durations = await sdk.histogram("rate_limit.store.batch.duration");
    expect(durations).toMatchObject([
      { attributes: take, count: 1 },
      { attributes: read, count: 1 },
    ]);
    for (const { sum } of durations) {
      expect(sum).toBeGreaterThan(0);
      // Seconds, and not milliseconds.
      expect(sum).toBeLessThan(2);
    }
    await database.prisma.$executeRawUnsafe('DROP TABLE "RateLimit"');
    await expect(limiter.check("sendMessage")).rejects.toThrow("RateLimit");
    const [, , failed] = await sdk.histogram("rate_limit.store.batch.duration");
    expect(failed).toMatchObject({
      attributes: { ...read, "error.type": "RateLimitStoreError" },
      count: 1,
    });
  });

  it("count conflicts by way", async () => {
    const sdk = startSdk();
    const { onBatch } = rateLimitMetrics({ meter: sdk.meter });
    const batch = { calls: 5, rows: 2, duration: 1, failed: false };
    for (const conflicts of [2, 0, 1]) onBatch({ ...batch, way: "decide", conflicts });
    onBatch({ ...batch, way: "take", conflicts: 0 });
    expect(await sdk.sums("rate_limit.store.conflicts")).toEqual([
      [{ "rate_limit.store.way": "decide" }, 3],
    ]);
  });
});

it("the default meter is that of an SDK that starts after the limiter was created", async () => {
  const { onDecision } = rateLimitMetrics();
  const sdk = startSdk();
  metrics.setGlobalMeterProvider(sdk.provider);
  onTestFinished(() => metrics.disable());
  const result = { ok: true, value: 1, ts: 0 } as const;
  onDecision({ action: "limit", name: "sendMessage", key: undefined, count: 1, result });
  expect((await sdk.exported()).map(({ scope }) => scope.name)).toEqual(["trpc-rate-limit"]);
  expect(await sdk.sums("rate_limit.decisions")).toEqual([[decision("sendMessage", "granted"), 1]]);
});

it("without an SDK, nothing is recorded and nothing fails", async () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits, ...rateLimitMetrics() });
  await expect(limiter.limit("sendMessage")).resolves.toMatchObject({ ok: true });
});

it("an option that does not exist is rejected", () => {
  expect(() => rateLimitMetrics({ metre: undefined } as object)).toThrow(
    "metre is not an option of rateLimitMetrics()",
  );
});

it("follows the names and units of OpenTelemetry's conventions", async () => {
  const sdk = startSdk();
  const { onDecision, onBatch } = rateLimitMetrics({ meter: sdk.meter });
  const result = { ok: false, retryAfter: 1, value: 0 } as const;
  onDecision({ action: "limit", name: "sendMessage", key: undefined, count: 1, result });
  onDecision({ action: "ban", name: "sendMessage", key: undefined, count: 1, result });
  onBatch({ way: "lock", calls: 1, rows: 1, duration: 1, conflicts: 1, failed: false });
  const all = (await sdk.exported()).flatMap((scope) => scope.metrics);
  expect(all.map(({ descriptor: { name, unit } }) => [name, unit])).toEqual([
    ["rate_limit.decisions", "{decision}"],
    ["rate_limit.admin.actions", "{action}"],
    ["rate_limit.denial.wait.duration", "s"],
    ["rate_limit.store.batch.duration", "s"],
    ["rate_limit.store.batch.calls", "{call}"],
    ["rate_limit.store.conflicts", "{conflict}"],
  ]);
});
