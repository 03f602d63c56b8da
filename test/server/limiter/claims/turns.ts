/**
 * The expected effect of claims on one draft: each claim is applied to the rows as the claim before left
 * them. There is no draft, no fork and no guard here. The arithmetic is that of `core`.
 */
import { shortestWait } from "../../../../core/calculate.js";
import { heldAt } from "../../../../core/rows/reading.js";
import { decideRateLimit, type RateLimitResult } from "../../../../core/decide.js";
import { answerAgain, markerOf, wasCharged } from "../../../../core/rows/marker.js";
import { decideShardPair } from "../../../../core/shards.js";
import { sharesOf } from "../../../../core/shares.js";
import { toleranceOf } from "../../../../core/config.js";
import type { Row } from "../../../../core/rows/row.js";
import { struckRow, withNextBlock } from "../../../../core/rows/strikes.js";
import type { LimitRequest } from "../../../../server/limiter/limits/limit-request.js";
import type { Marker } from "../../../../server/limiter/claims/markers.js";
import { rowKey, type RowId } from "../../../../server/store/store.js";

export type Rows = Map<string, Row | null>;

/** One limit of a program, and what is wanted of it. */
export interface Wanted extends LimitRequest {
  rows: readonly RowId[];
  marker: Marker | undefined;
}

export function takeTokens(of: Rows, wanted: Wanted, now: number, closes = true): RateLimitResult {
  const { limit, rows, count, reserve } = wanted;
  const { part } = limit;
  const [first, second] = rows.map(rowKey) as [string, string];
  if (limit.config.shards !== undefined) {
    const pair = [of.get(first)!, of.get(second)!] as const;
    const { result, next, taken } = decideShardPair(pair, part, now, count, reserve);
    if (!result.ok) return result;
    const used = [0, 1].filter((i) => next[i] !== undefined);
    if (count > 0) for (const i of used) of.set([first, second][i]!, next[i]!);
    return { ...result, shards: used.map((i) => ({ shard: rows[i]!.shard, count: taken[i]! })) };
  }
  const { blockFor: _, ...open } = part;
  const counts = second !== undefined;
  const config = !closes ? open : counts ? withNextBlock(part, of.get(second), now) : part;
  const { result, next } = decideRateLimit(of.get(first)!, config, now, count, reserve);
  if (next === undefined || (result.ok && count === 0)) return result;
  of.set(first, next);
  if (!result.ok && counts) of.set(second, struckRow(part, of.get(second), now, next));
  return result;
}

/** @param stored the rows before the call. */
export function takeOnce(of: Rows, stored: Rows, wanted: Wanted, now: number): RateLimitResult {
  const { limit, marker, count, rows } = wanted;
  if (marker === undefined) return takeTokens(of, wanted, now);
  const known = stored.get(rowKey(marker.row));
  if (wasCharged(known, marker.onceFor, now)) {
    return answerAgain(known, of.get(rowKey(rows[0]!)), limit.part, now);
  }
  const result = takeTokens(of, wanted, now);
  if (result.ok && count > 0)
    of.set(rowKey(marker.row), markerOf(of.get(rowKey(rows[0]!))!, limit.part, now));
  return result;
}

export function takeAll(of: Rows, stored: Rows, all: readonly Wanted[], now: number) {
  const attempt = (from: Rows, at: number) => {
    const rows = new Map(from);
    const closed = new Map(from);
    const results = all.map((wanted) => {
      const was = new Map(rows);
      const result = takeOnce(rows, stored, wanted, at);
      if (!result.ok) for (const [id, row] of rows) if (row !== was.get(id)) closed.set(id, row);
      return result;
    });
    const ok = results.every((result, i) => result.ok || all[i]!.limit.config.shadow);
    return { rows: ok ? rows : closed, results, ok };
  };
  const { rows, results, ok } = attempt(of, now);
  for (const [id, row] of rows) of.set(id, row);
  const counted = results.filter((_, i) => !all[i]!.limit.config.shadow);
  const longest = Math.max(0, ...counted.map(({ retryAfter = 0 }) => retryAfter));
  const passes = (ms: number) => attempt(of, now + ms).ok;
  return { ok, results, retryAfter: ok ? longest : shortestWait(longest, passes) };
}

/** The limits that pay, by their indexes, and how much each. */
export function payFirst(of: Rows, all: readonly Wanted[], now: number): (number | undefined)[] {
  for (const [i, wanted] of all.entries()) {
    if (takeTokens(of, wanted, now, false).ok)
      return all.slice(0, i + 1).map((_, at) => (at === i ? wanted.count : undefined));
  }
  return all.map(() => undefined);
}

export function payEach(of: Rows, all: readonly Wanted[], count: number, now: number) {
  const purses = all.map(({ limit: { part }, rows }) => {
    const held = rows.map((row) => heldAt(of.get(rowKey(row)), part, now).value);
    const tolerance = toleranceOf(part);
    const sum = held.reduce((total, value) => total + value, 0);
    const [fuller, both] = [Math.max(...held), { value: sum, tolerance: rows.length * tolerance }];
    return fuller >= sum ? { value: fuller, tolerance } : both;
  });
  const shares = sharesOf(purses, count);
  if (shares === undefined) return all.map(() => undefined);
  const paid = shares.slice(0, shares.findLastIndex((share) => share > 0) + 1);
  for (const [i, share] of paid.entries())
    if (share > 0) takeTokens(of, { ...all[i]!, count: share }, now, false);
  return paid.map((share) => (share > 0 ? share : undefined));
}
