/** Reads the parameters of the package's statements on PostgreSQL. */
import type { Row } from "../../../core/rows/row.js";
import { idOf } from "./rows.js";
import type { TakeNumbers } from "./take.js";

/** A row of a take. */
export interface ModelLine {
  id: string;
  fresh: Row;
  numbers: TakeNumbers;
}

export function idsOf(params: readonly unknown[]): string[] {
  const [names, keys, shards] = params as [string[], string[], number[]];
  return names.map((name, i) => idOf(name, keys[i], shards[i]));
}

export function numbersOf(params: readonly unknown[], from: number, count: number): number[][] {
  return params.slice(from, from + count) as number[][];
}

/** The lines of a take whose rows share their terms. */
export function linesOfTake(
  text: string,
  isOne: boolean,
): (params: readonly unknown[]) => ModelLine[] {
  const isWindow = text.includes("floor(");
  const isAny = text.includes("$12");
  return (params) => {
    const [rate, period, most, time, capacity, own, least, over] = params.slice(5, 13).map(Number);
    const any = isAny ? { capacity: capacity!, own: own!, least: least!, over: over! } : undefined;
    const terms = { isWindow, rate: rate!, period: period!, most: most!, any };
    const lineOf = (id: string, fresh: Row): ModelLine => {
      // In a new row, the taken tokens are the used tokens. For a token bucket, the new row's `ts` is the
      // time.
      const shown = any !== undefined && fresh.used < 0 ? any.capacity - fresh.used : fresh.used;
      const total = isAny && isOne ? Number(params[13]) : shown;
      const now = isAny || isWindow ? time! : fresh.ts;
      return { id, fresh, numbers: { ...terms, total, now } };
    };
    if (isOne) {
      const [name, key, shard, used, ts] = params;
      return [lineOf(idOf(name, key, shard), { used: Number(used), ts: Number(ts) })];
    }
    const [used, times] = numbersOf(params, 3, 2);
    return idsOf(params).map((id, i) => lineOf(id, { used: used![i]!, ts: times![i]! }));
  };
}

/** The lines of a take whose rows have terms of their own. */
export function linesWithTermsOf(params: readonly unknown[]): ModelLine[] {
  const [used, times] = numbersOf(params, 3, 2);
  const lineOf = String(params[6]);
  const [totals, places] = numbersOf(params, 7, 2);
  const [windows, rates, periods, capacities, owns, mosts, leasts, overs] = numbersOf(params, 9, 8);
  return idsOf(params).map((id, i) => {
    // As in SQL, arrays begin with 1.
    const line = Number(found(lineOf, id)) - 1;
    const place = places![line]! - 1;
    const numbers: TakeNumbers = {
      isWindow: windows![place] === 1,
      rate: rates![place]!,
      period: periods![place]!,
      most: mosts![place]!,
      total: totals![line]!,
      now: Number(params[5]),
      any: {
        capacity: capacities![place]!,
        own: owns![place]!,
        least: leasts![place]!,
        over: overs![place]!,
      },
    };
    return { id, fresh: { used: used![i]!, ts: times![i]! }, numbers };
  });
}

/** The value that a JSON object has for a row. */
function found(json: string, id: string): unknown {
  const [name, key, shard] = id.split("\0");
  const all = JSON.parse(json) as Record<string, Record<string, unknown>>;
  return all[name!]![`${shard} ${key}`];
}
