/**
 * The statements that read many rows: the next name, a page of rows, and the full rows of a page. None of
 * these statements waits, so each sees the newest state of all rows at once.
 */
import type { Row } from "../../../core/rows/row.js";
import { idOf, type ModelRows } from "./rows.js";
import { type Answer, answer } from "./server.js";
import { isFullRow } from "./take.js";

interface Id {
  name: string;
  key: string;
  shard: number;
}

type Params = readonly unknown[];

/** The text without quotes and parameter numbers, which is the same in all dialects. */
const plain = (text: string) => text.replaceAll(/[`"]/g, "").replaceAll(/\$\d+/g, "?");

/** @returns a function that answers the statement, or `undefined` for any other statement. */
export function understandBrowse(
  given: string,
  rows: ModelRows,
): ((params: Params) => Answer) | undefined {
  const text = plain(given);
  if (/^SELECT name FROM \w+ (WHERE name > \? )?ORDER BY name LIMIT 1$/.test(text)) {
    return ([after = ""]) => {
      const found = idsOf(rows).find(({ name }) => name > String(after));
      return answer(found ? [{ name: found.name }] : []);
    };
  }
  if (/^SELECT name, key, shard FROM \w+ WHERE name >= \? .* LIMIT \?$/.test(text)) {
    return ([name, count]) => page(rows, (id) => id.name >= String(name), Number(count));
  }
  if (/^SELECT name, key, shard FROM \w+ WHERE \(name, key, shard\) > .* LIMIT \?$/.test(text)) {
    return ([name, count, key, shard]) => {
      const after = [name, key, shard] as const;
      return page(rows, (id) => isBehind([id.name, id.key, id.shard], after), Number(count));
    };
  }
  if (/^SELECT name, key, shard FROM \w+ WHERE name = \? AND key LIKE \? .* LIMIT \?$/.test(text)) {
    const isAfter = text.includes("(key, shard) > (?, ?)");
    return ([name, pattern, count, key, shard]) => {
      const prefix = String(pattern).slice(0, -1).replaceAll(/!(.)/g, "$1");
      const isIn = (id: Id) =>
        id.name === name &&
        id.key.startsWith(prefix) &&
        (!isAfter || isBehind([id.key, id.shard], [key, shard]));
      return page(rows, isIn, Number(count));
    };
  }
  const byTime =
    /^SELECT t\.name, t\.key, t\.shard, .* WHERE t\.name = \? AND t\.key (LIKE|BETWEEN) .* ORDER BY t\.ts, t\.key LIMIT (\?|\d+)$/s.exec(
      text,
    );
  if (byTime) {
    const [, how, limit] = byTime;
    return ([name, first, last]) => {
      const prefix = String(first).slice(0, -1).replaceAll(/!(.)/g, "$1");
      const isIn = ({ name: of, key }: Id) =>
        of === name &&
        (how === "LIKE" ? key.startsWith(prefix) : key >= String(first) && key <= String(last));
      return earliest(rows, isIn, Number(limit === "?" ? last : limit));
    };
  }
  const ofName = /^SELECT name, key, shard FROM \w+ WHERE name = \? .* LIMIT (\d+)$/.exec(text);
  if (ofName) {
    const isAfter = text.includes("key >= ? AND (key > ? OR shard > ?)");
    const hasBounds = text.includes("key BETWEEN ? AND ?");
    return ([name, ...rest]) => {
      const [key, , shard] = isAfter ? rest.splice(0, 3) : [];
      const [first, last] = hasBounds ? rest.map(String) : [];
      const isIn = (id: Id) =>
        id.name === name &&
        (first === undefined || (id.key >= first && id.key <= last!)) &&
        (!isAfter || isBehind([id.key, id.shard], [key, shard]));
      return page(rows, isIn, Number(ofName[1]));
    };
  }
  const last = /^SELECT t\.name, t\.key, t\.shard FROM .* LIMIT 1 OFFSET (\d+)$/.exec(text);
  if (last) {
    const isBeyond = beyondOf(text);
    return (params) => page(rows, (id) => isBeyond(id, params), 1, Number(last[1]));
  }
  if (text.startsWith("SELECT 1 AS found FROM ")) {
    const fullRows = understandFull(given, rows);
    return (params) => answer(fullRows(params).length > 0 ? [{ found: 1 }] : []);
  }
  return undefined;
}

/** Whether a row stands after a key, in the statement that looks for the last key of a page. */
function beyondOf(text: string): (id: Id, params: Params) => boolean {
  if (text.includes("(t.name, t.key) > (?, ?)")) {
    return (id, after) => isBehind([id.name, id.key], after);
  }
  if (text.includes("t.name >= ?")) return (id, [name]) => id.name >= String(name);
  const hasAfter = text.includes("t.key > ?");
  return (id, [name, after]) => id.name === name && (!hasAfter || id.key > String(after));
}

/** Finds the full rows of a page. */
export function understandFull(given: string, rows: ModelRows): (params: Params) => string[] {
  const text = plain(given);
  const hasAfter = text.includes("t.key > ?");
  const hasLast = text.includes("t.key <= ?");
  const isFull = understandFullness(given);
  return (params) => {
    const [name, ...rest] = params;
    const after = hasAfter ? String(rest.shift()) : "";
    const last = hasLast ? String(rest.shift()) : undefined;
    return rows.all().flatMap(([id, state]) => {
      const [ofName, key] = id.split("\0") as [string, string];
      const isIn =
        ofName === name && (!hasAfter || key > after) && (last === undefined || key <= last);
      return isIn && isFull(state, rest) ? [id] : [];
    });
  };
}

/** @returns whether a row is full. The parameters begin with those of the first config. */
export function understandFullness(given: string): (row: Row, params: Params) => boolean {
  const [, terms] = /THEN (.*?) ELSE 1 = 0 END/.exec(plain(given))!;
  const kinds = terms!.split(/ AND (?=\(CASE|t\.used = 0)/).map((term) => {
    if (term === "t.used = 0") return "credits";
    return term.toLowerCase().includes("floor(") ? "fixed window" : "token bucket";
  });
  return (row, params) => {
    const numbers = params.map(Number);
    return kinds.every((kind) => {
      if (kind === "credits") return row.used === 0;
      const isWindow = kind === "fixed window";
      const [opened, capacity, now, first, second] = numbers.splice(0, 6) as [
        number,
        number,
        number,
        number,
        number,
      ];
      const [period, rate] = isWindow ? [first, second] : [second, first];
      return isFullRow(row, { isWindow, rate, period, capacity, opened, now });
    });
  };
}

function page(rows: ModelRows, isIn: (id: Id) => boolean, count: number, skipped = 0): Answer {
  const found = idsOf(rows).filter(isIn);
  return answer(found.slice(skipped, skipped + count).map((id) => ({ ...id })));
}

/** The rows for which `isIn` is true, sorted by their `ts`. */
function earliest(rows: ModelRows, isIn: (id: Id) => boolean, count: number): Answer {
  const states = rows.all();
  const found = idsOf(rows).flatMap((id, i) => (isIn(id) ? { ...id, ...states[i]![1] } : []));
  return answer(found.sort((a, b) => a.ts - b.ts || (a.key < b.key ? -1 : 1)).slice(0, count));
}

function idsOf(rows: ModelRows): Id[] {
  return rows.all().map(([id]) => {
    const [name, key, shard] = id.split("\0") as [string, string, string];
    return { name, key, shard: Number(shard) };
  });
}

/** Whether the first list comes after the second one. */
function isBehind(parts: readonly unknown[], others: readonly unknown[]): boolean {
  const index = parts.findIndex((part, i) => part !== others[i]);
  return index >= 0 && (parts[index] as string) > (others[index] as string);
}

/** The rows of a list of keys and shards. */
export function idsOfList(name: unknown, json: unknown): string[] {
  const list = JSON.parse(String(json)) as [string, number][];
  return list.map(([key, shard]) => idOf(name, key, shard));
}
