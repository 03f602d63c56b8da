/**
 * The rows that a call uses: the only one, or two of its shards (power of two choices). Each shard
 * is a bucket of its own, with its part of the config.
 */
import { heldAt } from "../../../core/rows/reading.js";
import { rowId, type RowId } from "../../store/store.js";
import type { Environment } from "./environment.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** The rows that a call of `limit` decides on: the second row may count the closings of the first row. */
export function rowsToLimit(limit: ResolvedLimit, random: () => number): readonly RowId[] {
  return limit.counted ?? chooseRows(limit, random);
}

/** The only row, or two random shards. */
export function chooseRows(limit: ResolvedLimit, random: () => number): readonly RowId[] {
  const { shards = 1 } = limit.config;
  return shards === 1 ? limit.rows : chooseTwo(shards, random).map((shard) => rowOf(limit, shard));
}

/** The rows of `chooseRows`, beginning with the shard that held more when this process last saw the two. */
export function chooseFullerFirst(
  limit: ResolvedLimit,
  { clock, random }: Environment,
): readonly RowId[] {
  const rows = chooseRows(limit, random);
  if (rows.length === 1) return rows;
  const { part, seen } = limit;
  const now = clock();
  const [a, b] = rows.map(({ shard }) => heldAt(seen[shard], part, now).value);
  return b! > a! ? [rows[1]!, rows[0]!] : rows;
}

/** Two different shards, each pair equally likely. */
function chooseTwo(shards: number, random: () => number): [number, number] {
  const first = Math.floor(random() * shards);
  const second = (first + 1 + Math.floor(random() * (shards - 1))) % shards;
  return [first, second];
}

export function rowOf({ name, part, rows }: ResolvedLimit, shard: number): RowId {
  return shard === 0 ? rows[0] : rowId(name, rows[0].key, shard, part);
}

export function allRows(limit: ResolvedLimit): RowId[] {
  return Array.from({ length: limit.config.shards ?? 1 }, (_, shard) => rowOf(limit, shard));
}
