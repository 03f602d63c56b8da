/** `limitAll`: several calls as one decision. All of them take their tokens, or none does. */
import { type RateLimitState, shortestWait } from "../../core/calculate.js";
import { validateSatisfiable } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { RateLimitDenial } from "../../core/errors.js";
import { type Decision, type Outcome, rowKey, type RowId } from "../store/store.js";
import type { LimitAllItem, LimitAllOptions, LimitAllResult } from "./call-options.js";
import { rowsToLimit } from "./choose-shards.js";
import { type Context, type Environment, report } from "./context.js";
import { decideRequest } from "./decide-request.js";
import { denialError } from "./denial-error.js";
import { answerAgain, isMarked, markerOf } from "../../core/once.js";
import { openedBy } from "./fail-open.js";
import { ITEM_OPTIONS, LIMIT_ALL_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import { inShadow } from "./limit.js";
import { type LimitRequest, requestOf } from "./limit-request.js";
import type { Marker } from "./once.js";
import { remember } from "./taken.js";

export async function limitAll(
  context: Context,
  items: readonly LimitAllItem[],
  options: LimitAllOptions = {},
): Promise<LimitAllResult> {
  const { environment } = context;
  rejectUnknownOptions(options, LIMIT_ALL_OPTIONS, "limitAll()");
  const requests = requestsOf(context, items);
  const { once } = options;
  const markers =
    once === undefined
      ? undefined
      : requests.map((request) => context.markerFor(request.limit, once));
  if (requests.length === 0) return { ok: true, results: [] };
  let decided: AllDecided;
  try {
    [decided] = (await context.apply([decideAll(requests, environment, markers)])) as [AllDecided];
  } catch (error) {
    return openAll(context, requests, error);
  }
  return answerAll(context, requests, decided, options, markers);
}

/** The requests of several items, checked. */
export function requestsOf(context: Context, items: readonly LimitAllItem[]): LimitRequest[] {
  const requests = items.map((item) => {
    rejectUnknownOptions(item, ITEM_OPTIONS, "an item of limitAll()");
    return requestOf(context, item.name, item);
  });
  validateTogether(requests);
  return requests;
}

/** The answer once it is decided. Reports each charge and each denial. */
export function answerAll(
  context: Context,
  requests: readonly LimitRequest[],
  decided: AllDecided,
  options: LimitAllOptions,
  markers?: readonly Marker[],
): LimitAllResult {
  const { environment } = context;
  const { ok, retryAfter, now, changed } = decided;
  const results = requests.map((request, i) => {
    const given = decided.results[i]!;
    const result = request.limit.config.shadow ? inShadow(given, now) : given;
    // When all are denied, no item has taken anything that could be settled.
    const { limit, count } = request;
    const marker = markers?.[i];
    return remember(result, { limit, count, environment, readOnly: !ok, marker, now });
  });
  for (const [i, request] of requests.entries()) {
    const isDenied = !decided.results[i]!.ok;
    if (ok || isDenied) report(context, "limit", request, results[i]!, changed[i]!);
  }
  if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
  const slowest = slowestOf(results);
  if (options.throws) {
    const denials = denialsOf(requests, results);
    throw denialError(requests[slowest]!, { ...results[slowest]!, retryAfter }, now, denials);
  }
  return { ok, results, retryAfter, name: requests[slowest]!.limit.name };
}

/** The answer instead of a failure of the store, if all of the limits let calls through then. */
function openAll(
  context: Context,
  requests: readonly LimitRequest[],
  error: unknown,
): LimitAllResult {
  const { environment } = context;
  const opened = requests.map(({ limit }) => openedBy(error, limit, context));
  if (!opened.every((result) => result !== undefined)) throw error;
  for (const [i, request] of requests.entries()) {
    report(context, "limit", request, opened[i]!, false);
  }
  const results = requests.map(({ limit }, i) => {
    return remember(opened[i]!, { limit, count: 0, environment, readOnly: false });
  });
  return { ok: true, results };
}

export interface AllDecided {
  /** One per request. When one is denied, what each would get in its turn. */
  results: RateLimitResult[];
  /** By index of the request: whether it changed a row. */
  changed: readonly boolean[];
  ok: boolean;
  /** The wait for all of them; 0 when they passed without reservations. */
  retryAfter: number;
  now: number;
}

/** Takes the tokens of every request, or none at all. Requests to shadows deny nothing. */
export function decideAll(
  requests: readonly LimitRequest[],
  { clock, random }: Pick<Environment, "clock" | "random">,
  markers: readonly Marker[] | undefined,
): Decision<AllDecided> {
  const steps = requests.map((request) => ({ request, rows: rowsToLimit(request.limit, random) }));
  // Two requests can be for the same row. The second one then sees what the first one left.
  const slots = slotsOf([
    ...steps.flatMap((step) => step.rows),
    ...(markers ?? []).map(({ row }) => row),
  ]);

  return {
    rows: slots.rows,
    decide(states) {
      const now = clock();
      const attempt = (from: readonly (RateLimitState | null)[], at: number) => {
        const current = [...from];
        /** The rows as they were, but for those that a denial closes. */
        const closed = [...from];
        const changed = steps.map(() => false);
        const results = steps.map(({ request, rows }, step) => {
          const indexes = rows.map(slots.indexOf);
          const seen = indexes.map((i) => current[i] ?? null);
          const marker = markers?.[step];
          const mark = marker && slots.indexOf(marker.row);
          // As it was before this call, because two items of it may be for the same bucket.
          const known = mark === undefined ? null : from[mark]!;
          if (marker !== undefined && isMarked(known, marker.onceFor, at)) {
            return answerAgain(known, seen[0], request.limit.part, at);
          }
          const { result, next } = decideRequest(request, rows, seen, at);
          if (result.ok && request.count === 0) return result;
          for (const [i, state] of next.entries()) {
            if (state === undefined) continue;
            changed[step] = true;
            current[indexes[i]!] = state;
            if (!result.ok) closed[indexes[i]!] = state;
          }
          if (mark !== undefined && result.ok && changed[step])
            current[mark] = markerOf(result, at);
          return result;
        });
        const ok = results.every((result, i) => result.ok || isShadow(steps[i]!.request));
        return { results, current, closed, changed, ok };
      };
      /**
       * Rows of requests that change nothing are given back as they were. That guards them: the
       * takes are only right beside them. The shard that a request leaves alone needs no guard.
       */
      const writesOf = (
        next: readonly (RateLimitState | null)[],
        isChanged: readonly boolean[],
      ): Outcome<AllDecided>["writes"] => {
        if (!isChanged.includes(true)) return undefined;
        const guarded = new Set<number>();
        for (const [step, { rows }] of steps.entries()) {
          if (isChanged[step]) continue;
          for (const row of rows) guarded.add(slots.indexOf(row));
          const marker = markers?.[step];
          if (marker !== undefined) guarded.add(slots.indexOf(marker.row));
        }
        return next.map((state, i) => (state !== states[i] || guarded.has(i) ? state : undefined));
      };
      const { results, current, closed, changed, ok } = attempt(states, now);
      const waits = results.filter((_, i) => !isShadow(steps[i]!.request));
      const longest = Math.max(0, ...waits.map(({ retryAfter = 0 }) => retryAfter));
      if (ok) {
        const result = { results, changed, ok, retryAfter: longest, now };
        return { result, writes: writesOf(current, changed) };
      }
      // On separate rows, all pass after the longest wait. On shared rows, that is a first guess.
      const retryAfter = shortestWait(longest, (ms) => attempt(closed, now + ms).ok);
      const isClosing = results.map((denied, i) => !denied.ok && changed[i]!);
      const result = { results, changed: isClosing, ok, retryAfter, now };
      return { result, writes: writesOf(closed, isClosing) };
    },
  };
}

function isShadow({ limit }: LimitRequest): boolean {
  return limit.config.shadow === true;
}

/** The distinct rows among these, and the index of each of them. */
function slotsOf(all: readonly RowId[]) {
  const rows: RowId[] = [];
  const indexes = new Map<RowId, number>();
  for (const row of all) {
    const same = rows.findIndex(
      ({ name, key, shard }) => name === row.name && key === row.key && shard === row.shard,
    );
    indexes.set(row, same === -1 ? rows.push(row) - 1 : same);
  }
  return { rows, indexOf: (row: RowId) => indexes.get(row)! };
}

/** The requests that were denied, by name. Of several for one name, the one with the longest wait. */
function denialsOf(
  requests: readonly LimitRequest[],
  results: readonly RateLimitResult[],
): readonly RateLimitDenial[] {
  const denials = new Map<string, RateLimitDenial>();
  for (const [i, { ok, retryAfter = 0, value }] of results.entries()) {
    const { name, config } = requests[i]!.limit;
    if (ok || (denials.get(name)?.retryAfter ?? 0) >= retryAfter) continue;
    denials.set(name, { name, retryAfter, value, config });
  }
  return [...denials.values()];
}

/** The index of the denied result with the longest wait. */
function slowestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ ok, retryAfter = 0 }) => (ok ? -1 : retryAfter));
  return waits.indexOf(Math.max(...waits));
}

/** Requests for the same bucket have to be satisfiable together. */
function validateTogether(requests: readonly LimitRequest[]): void {
  const totals = new Map<string, number>();
  for (const { limit, count, reserve } of requests) {
    if (limit.answer !== undefined) continue;
    const { name, config } = limit;
    // By the row: two keys are one bucket if `hashKey` returns the same for both.
    const id = rowKey(limit.rows[0]);
    const total = (totals.get(id) ?? 0) + count;
    totals.set(id, total);
    validateSatisfiable(name, config, total, reserve);
  }
}
