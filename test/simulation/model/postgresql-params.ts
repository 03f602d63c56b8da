/** What the parameters of the package's statements on PostgreSQL say. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { PeriodicConfig } from "../../../core/config.js";
import { idOf } from "./rows.js";

/** A row of a take. */
export interface ModelLine {
  id: string;
  fresh: RateLimitState;
  config: PeriodicConfig;
  now: number;
  total: number;
  floor: number;
}

export function idsOf(params: readonly unknown[]): string[] {
  const [names, keys, shards] = params as [string[], string[], number[]];
  return names.map((name, i) => idOf(name, keys[i], shards[i]));
}

export function numbersOf(params: readonly unknown[], from: number, count: number): number[][] {
  return params.slice(from, from + count) as number[][];
}

/** Of a take whose rows share their terms. */
export function linesOfTake(
  text: string,
  isOne: boolean,
): (params: readonly unknown[]) => ModelLine[] {
  const kind = text.includes("floor(") ? "fixed window" : "token bucket";
  const hasTotals = text.includes("$11::jsonb");
  return (params) => {
    const [rate, period, capacity, floor, now] = params.slice(5, 10) as number[];
    const config = { kind, rate, period, capacity, start: 0 } as PeriodicConfig;
    const terms = { config, now: now!, floor: floor! };
    if (isOne) {
      const [name, key, shard, value, ts] = params;
      const fresh = { value: Number(value), ts: Number(ts) };
      return [{ ...terms, id: idOf(name, key, shard), fresh, total: Number(params[10]) }];
    }
    const [values, times] = numbersOf(params, 3, 2);
    return idsOf(params).map((id, i) => {
      const fresh = { value: values![i]!, ts: times![i]! };
      const total = hasTotals ? Number(found(String(params[10]), id)) : capacity! - fresh.value;
      return { ...terms, id, fresh, total };
    });
  };
}

/** Of a take whose rows have terms of their own. */
export function linesWithTermsOf(params: readonly unknown[]): ModelLine[] {
  const [values, times] = numbersOf(params, 3, 2);
  const lineOf = String(params[6]);
  const [totals, places] = numbersOf(params, 7, 2);
  const windows = params[9] as number[];
  const [rates, periods, capacities, floors] = numbersOf(params, 10, 4);
  return idsOf(params).map((id, i) => {
    // As in SQL, where arrays begin with 1.
    const line = Number(found(lineOf, id)) - 1;
    const place = places![line]! - 1;
    const config = {
      kind: windows[place] ? "fixed window" : "token bucket",
      rate: rates![place]!,
      period: periods![place]!,
      capacity: capacities![place]!,
      start: 0,
    } as PeriodicConfig;
    const fresh = { value: values![i]!, ts: times![i]! };
    return {
      id,
      fresh,
      config,
      now: Number(params[5]),
      total: totals![line]!,
      floor: floors![place]!,
    };
  });
}

/** What a JSON object has for a row. */
function found(json: string, id: string): unknown {
  const [name, key, shard] = id.split("\0");
  const all = JSON.parse(json) as Record<string, Record<string, unknown>>;
  return all[name!]![`${shard} ${key}`];
}
