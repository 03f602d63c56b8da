/** `limitAll`: several requests as one decision. All of them take their tokens, or none does. */
import { validateSatisfiable } from "../../../core/count.js";
import { rowKey } from "../../store/store.js";
import { allOf, type AllOfAnswer } from "../claims/all-of.js";
import type { Claim } from "../claims/draft.js";
import type { Environment } from "../claims/environment.js";
import { withHolds } from "../claims/with-holds.js";
import { type Context, report } from "../context/context.js";
import { decideReclaiming } from "../holds/reclaim.js";
import { denialError, type Denied } from "../limits/denial-error.js";
import { requestOf } from "../limits/limit-request.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import {
  FIRST_OF_ALL_OPTIONS,
  ITEM_OPTIONS,
  type ItemResult,
  LIMIT_ALL_OPTIONS,
  type LimitAllFirst,
  type LimitAllItem,
  type LimitAllOptions,
  type LimitAllResult,
} from "../types/limit-all.js";
import {
  type AllItem,
  FirstOfLimits,
  type ItemAnswer,
  markItems,
  OneLimit,
} from "./limit-all-items.js";
import { payersOf, twice } from "./limit-first.js";

/** The items of a call, before they are checked. */
export type GivenItems = readonly (LimitAllItem | LimitAllFirst)[];
type Answer = AllOfAnswer<ItemAnswer>;
type Result = LimitAllResult<ItemResult[]>;

export async function limitAll(
  context: Context,
  given: GivenItems,
  options: LimitAllOptions = {},
): Promise<Result> {
  rejectUnknownOptions(options, LIMIT_ALL_OPTIONS, "limitAll()");
  const items = itemsOf(context, given, options.context);
  markItems(context, items, options);
  if (items.length === 0) return { ok: true, results: [] };
  const claim = claimAll(items, context.environment);
  let decided;
  try {
    decided = await decideReclaiming(context, claim, limitsOf(items), ({ ok }) => !ok);
  } catch (error) {
    return openAll(context, items, error);
  }
  const { answer, decision } = decided;
  return answerAll(context, items, answer, decision.now, options);
}

/**
 * The items of a call, checked.
 *
 * @param of the `context` of the call.
 */
export function itemsOf(context: Context, given: GivenItems, of?: unknown): AllItem[] {
  const withContext = <TItem extends object>(item: TItem): TItem =>
    of === undefined ? item : { ...item, context: of };
  const items = given.map((item): AllItem => {
    if ("first" in item) {
      rejectUnknownOptions(item, FIRST_OF_ALL_OPTIONS, "a first of limitAll()");
      const { requests, split } = payersOf(context, item.first, withContext(item), "first");
      return new FirstOfLimits(requests, split);
    }
    rejectUnknownOptions(item, ITEM_OPTIONS, "an item of limitAll()");
    return new OneLimit(requestOf(context, item.name, withContext(item)));
  });
  validateTogether(items);
  return items;
}

/** All limits that the items may charge. */
export function limitsOf(items: readonly AllItem[]): ResolvedLimit[] {
  return items.flatMap(({ requests }) => requests.map(({ limit }) => limit));
}

/** Makes the result of a call that is decided. Reports each charge and each denial. */
export function answerAll(
  context: Context,
  items: readonly AllItem[],
  { ok, retryAfter, changed, results: answers }: Answer,
  now: number,
  options: LimitAllOptions,
): Result {
  const results = items.map((item, i) => {
    const decided = { ok, changed: changed[i]!, now };
    return item.answered(context, answers[i] as never, decided);
  });
  if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
  const slowest = slowestOf(results);
  const { about } = items[slowest]!.denials(results[slowest] as never);
  if (options.throws) {
    const denials = denialsOf(items, results);
    const denied = { ok, value: about.value, retryAfter } as const;
    const { denialMessage } = context.environment;
    throw denialError(denialMessage, about.request, denied, now, denials);
  }
  return { ok, results, retryAfter, name: about.request.limit.name };
}

/** The answer instead of a failure of the store, if all of the items let the call through then. */
function openAll(context: Context, items: readonly AllItem[], error: unknown): Result {
  const opened = items.map((item) => item.opened(context, error));
  if (!opened.every((each) => each !== undefined)) throw error;
  for (const { request, answer } of opened) report(context, "limit", request, answer, false);
  return { ok: true, results: opened.map(({ result }) => result) };
}

/** The decision on several items: all of them take their tokens, or none does. */
export function claimAll(items: readonly AllItem[], environment: Environment): Claim<Answer> {
  const claims: readonly Claim<ItemAnswer>[] = items.map((item) => item.claim(environment));
  const claim = allOf(claims);
  if (items.every(({ hold }) => hold === undefined)) return claim;
  return withHolds(claim, ({ ok, results }) =>
    ok ? items.flatMap((item, i) => item.holdsOf(results[i] as never)) : [],
  );
}

/** The denied requests, by name. Of several denials with one name, the denial with the longest wait. */
function denialsOf(items: readonly AllItem[], results: readonly ItemResult[]): readonly Denied[] {
  const denials = new Map<string, Denied>();
  for (const [i, item] of items.entries()) {
    for (const denied of item.denials(results[i] as never).all) {
      const known = denials.get(denied.name)?.retryAfter ?? 0;
      if (known < denied.retryAfter) denials.set(denied.name, denied);
    }
  }
  return [...denials.values()];
}

/** The index of the denied result with the longest wait. */
function slowestOf(results: readonly ItemResult[]): number {
  const waits = results.map((result) => (result.ok ? -1 : result.retryAfter));
  return waits.indexOf(Math.max(...waits));
}

/**
 * Items for the same bucket have to be satisfiable together. A bucket of a `first` is in no other item:
 * which of them would pay, depends on what the other item takes.
 */
function validateTogether(items: readonly AllItem[]): void {
  const totals = new Map<string, number>();
  const ofFirst = new Set<string>();
  for (const item of items) {
    for (const { limit, count, reserve } of item.requests) {
      const { name, config } = limit;
      // By the row: two keys are one bucket if `hashKey` returns the same for the two.
      const id = rowKey(limit.rows[0]);
      const isFirst = item instanceof FirstOfLimits;
      if (ofFirst.has(id) || (isFirst && totals.has(id)))
        throw twice(name, "limitAll() with a first");
      if (isFirst) ofFirst.add(id);
      const total = (totals.get(id) ?? 0) + count;
      totals.set(id, total);
      if (!isFirst && limit.answer === undefined) validateSatisfiable(name, config, total, reserve);
    }
  }
}
