/** The dashboard for Grafana asks for series that the metrics of `/otel` really have. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { Meter } from "@opentelemetry/api";
import { readFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { rateLimitMetrics } from "../../server/otel/index.js";
import type { BatchEvent, DecisionEvent } from "../../server/index.js";
import { problemsOf, seriesOf } from "../support/prometheus-names.js";

interface Target {
  expr: string;
  legendFormat: string;
}

interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: Target[];
}

interface Variable {
  name: string;
  definition?: string;
}

interface Dashboard {
  title: string;
  uid: string;
  panels: Panel[];
  templating: { list: Variable[] };
}

const text = await readFile(new URL("../../docs/grafana-dashboard.json", import.meta.url), "utf8");
const dashboard = JSON.parse(text) as Dashboard;
const targets = dashboard.panels.flatMap((panel) => panel.targets);

/** All that the metrics can record, by the SDK. @param renamed what each instrument is called. */
async function recorded(renamed: (name: string) => string = (name) => name) {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
  const provider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => provider.shutdown());
  const own = provider.getMeter("trpc-rate-limit");
  const meter = Object.assign(Object.create(own) as Meter, {
    createCounter: ((name, options) =>
      own.createCounter(renamed(name), options)) as Meter["createCounter"],
    createHistogram: ((name, options) =>
      own.createHistogram(renamed(name), options)) as Meter["createHistogram"],
  });
  const { onDecision, onBatch } = rateLimitMetrics({ meter });
  const granted = { ok: true, value: 0, ts: 0 } as const;
  const denied = { ok: false, retryAfter: 5, value: 0 } as const;
  const results: DecisionEvent["result"][] = [
    granted,
    { ...granted, repeated: true },
    { ...granted, retryAfter: 5 },
    { ...granted, storeFailed: true },
    { ...granted, shadow: denied },
    denied,
    { ...denied, remembered: true },
  ];
  for (const result of results) onDecision({ ...of("limit"), result });
  for (const action of ["check", "charge", "credit"] as const) {
    onDecision({ ...of(action), result: granted });
  }
  for (const action of ["ban", "exempt", "raise", "clear", "reset"] as const) {
    onDecision({ ...of(action), result: granted, by: "ada" });
  }
  const batch = { calls: 1, rows: 1, duration: 1, conflicts: 1, failed: false };
  for (const way of ["read", "take", "decide", "lock"] satisfies BatchEvent["way"][]) {
    onBatch({ ...batch, way });
    onBatch({ ...batch, way, failed: true });
  }
  await provider.forceFlush();
  return exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
}

function of<TAction extends DecisionEvent["action"]>(action: TAction) {
  return { action, name: "send", key: undefined, count: 1 };
}

describe.each([
  ["the exporter for Node.js", false],
  ["Prometheus' OTLP receiver and the Collector", true],
])("the dashboard, with the names of %s", (_, withUnits) => {
  it("asks for series, labels and values that there are, in each query", async () => {
    const series = seriesOf(await recorded(), withUnits);
    expect(targets.length).toBeGreaterThan(10);
    expect(targets.flatMap(({ expr }) => problemsOf(expr, series))).toEqual([]);
  });

  it("shows every instrument", async () => {
    const series = seriesOf(await recorded(), withUnits);
    const isAsked = (name: string) =>
      targets.some(
        ({ expr }) =>
          problemsOf(expr, new Map([...series].filter(([each]) => each !== name))).length > 0,
      );
    const bases = new Map<string, string[]>();
    for (const name of series.keys()) {
      const base = name.replace(/_(?:total|sum|count|bucket)$/, "");
      bases.set(base, [...(bases.get(base) ?? []), name]);
    }
    expect(bases.size).toBe(6);
    for (const [base, names] of bases) expect([base, names.some(isAsked)]).toEqual([base, true]);
  });

  it.each([
    "rate_limit.decisions",
    "rate_limit.admin.actions",
    "rate_limit.denial.wait.duration",
    "rate_limit.store.batch.duration",
    "rate_limit.store.batch.calls",
    "rate_limit.store.conflicts",
  ])("would be found wrong if %s had another name", async (renamed) => {
    const scopes = await recorded((name) => (name === renamed ? `${name}.new` : name));
    const series = seriesOf(scopes, withUnits);
    expect(targets.flatMap(({ expr }) => problemsOf(expr, series))).not.toEqual([]);
  });

  it("names labels in its legends by which the query groups, and asks for the limits of one", async () => {
    const series = seriesOf(await recorded(), withUnits);
    for (const { expr, legendFormat } of targets) {
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      for (const label of labels) expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
    }
    const [, metric = "", label = ""] =
      /^label_values\((\w+), (\w+)\)$/.exec(
        dashboard.templating.list.find(({ name }) => name === "limit")!.definition!,
      ) ?? [];
    expect(series.get(metric)?.has(label)).toBe(true);
  });
});

it.each([
  ["a name that no series has", 'rate(rate_limit_wrong_total{rate_limit_name="send"}[1m])'],
  [
    "a label that the series lacks",
    'rate(rate_limit_store_conflicts_total{rate_limit_name=~".*"}[1m])',
  ],
  [
    "a value that is never there",
    'rate(rate_limit_decisions_total{rate_limit_outcome="refused"}[1m])',
  ],
  [
    "a group by a label that the series lacks",
    "sum by (key) (rate(rate_limit_decisions_total[1m]))",
  ],
  ["a pattern of two series", 'rate({__name__=~"rate_limit_.*_total"}[1m])'],
  ["no series", "vector(0)"],
])("the test finds %s", async (_, query) => {
  expect(problemsOf(query, seriesOf(await recorded(), false))).toHaveLength(1);
});

it("the dashboard can be imported: its variables are there, and its panels do not lie on each other", () => {
  expect(dashboard).toMatchObject({ title: "Rate limits", uid: "trpc-rate-limit" });
  const variables = dashboard.templating.list.map(({ name }) => name);
  const used = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name]) => name);
  expect(new Set(used)).toEqual(new Set([...variables, "__rate_interval", "__all"]));
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});
