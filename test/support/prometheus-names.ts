/**
 * The names and labels that Prometheus gives to the metrics of OpenTelemetry, by the rules of
 * https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics: dots become
 * underscores, a counter ends with `_total`, and a histogram is three series. Prometheus' own OTLP
 * receiver and the Collector append units. The exporter for Node.js does not.
 */
import type { ScopeMetrics } from "@opentelemetry/sdk-metrics";
import { DataPointType } from "@opentelemetry/sdk-metrics";

/** A series, and its possible labels with their values. */
export type Series = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** The names of units. Units in braces are annotations, and are left out. */
const UNITS: Record<string, string> = { s: "_seconds", ms: "_milliseconds", By: "_bytes" };

export function seriesOf(scopes: readonly ScopeMetrics[], withUnits: boolean): Series {
  const series = new Map<string, Map<string, Set<string>>>();
  for (const { descriptor, dataPointType, dataPoints } of scopes.flatMap(
    ({ metrics }) => metrics,
  )) {
    const unit = withUnits ? (UNITS[descriptor.unit] ?? "") : "";
    const name = underscored(descriptor.name) + unit;
    const labels = new Map<string, Set<string>>();
    for (const { attributes } of dataPoints) {
      for (const [label, value] of Object.entries(attributes)) {
        const values = labels.get(underscored(label)) ?? new Set();
        labels.set(underscored(label), values.add(String(value)));
      }
    }
    if (dataPointType === DataPointType.SUM) series.set(`${name}_total`, labels);
    if (dataPointType !== DataPointType.HISTOGRAM) continue;
    series.set(`${name}_sum`, labels);
    series.set(`${name}_count`, labels);
    series.set(`${name}_bucket`, new Map(labels).set("le", new Set()));
  }
  return series;
}

function underscored(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

/** Series that a query selects: by a name or by a pattern of names, and by labels. */
interface Selector {
  name: RegExp;
  labels: { label: string; operator: string; value: string }[];
}

function selectorsIn(query: string): Selector[] {
  const found = [...query.matchAll(/([a-z_]\w*)?\{([^}]*)\}|([a-z_]\w*)(?=\[)/g)];
  return found.map(([, name, matchers = "", bare]) => {
    const labels = [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
      ([, label = "", operator = "", value = ""]) => ({ label, operator, value }),
    );
    const pattern = labels.find(({ label }) => label === "__name__")?.value;
    return {
      name: new RegExp(`^(?:${name ?? bare ?? pattern})$`),
      labels: labels.filter(({ label }) => label !== "__name__"),
    };
  });
}

/** The labels by which a query groups. */
function groupedBy(query: string): string[] {
  const found = [...query.matchAll(/\bby \(([^)]*)\)/g)];
  return found.flatMap(([, labels = ""]) => labels.split(/,\s*/));
}

/**
 * The parts of a query that match no series. Every query of the dashboard is about series with the same
 * labels.
 */
export function problemsOf(query: string, series: Series): string[] {
  const selectors = selectorsIn(query);
  if (selectors.length === 0) return [`${query}: selects nothing`];
  return selectors.flatMap(({ name, labels }) => {
    const names = [...series.keys()].filter((each) => name.test(each));
    const [only] = names;
    if (names.length !== 1 || only === undefined) {
      return [`${query}: ${name.source} is ${names.join(" and ") || "no series"}`];
    }
    const known = series.get(only)!;
    const unknown = [...labels.map(({ label }) => label), ...groupedBy(query)].filter(
      (label) => !known.has(label),
    );
    const wrong = labels.filter(
      ({ label, operator, value }) => operator === "=" && known.get(label)?.has(value) === false,
    );
    return [
      ...unknown.map((label) => `${query}: ${only} has no label ${label}`),
      ...wrong.map(({ label, value }) => `${query}: ${label} of ${only} is never ${value}`),
    ];
  });
}
