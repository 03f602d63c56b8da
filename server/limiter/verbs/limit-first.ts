/**
 * `limitFirst`: the first of several limits that has the tokens pays for a call. With `split`, all of
 * them pay, in order.
 */
import { toleranceOf } from "../../../core/config.js";
import { countOf, isSatisfiable, mostHeld, usedShards } from "../../../core/count.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { sharesOf } from "../../../core/shares.js";
import type { PlanOptions } from "../types/call.js";
import { chooseRows } from "../claims/choose-shards.js";
import { eachOf, firstOf, type FirstOfAnswer, Payer } from "../claims/first-of.js";
import type { Claim } from "../claims/draft.js";
import { type Context, countingOf, report } from "../context/context.js";
import { denialError, type Denied } from "../limits/denial-error.js";
import { firstOnce, heldShares } from "../claims/first-once.js";
import { holdOf } from "../claims/hold-request.js";
import { decideReclaiming } from "../holds/reclaim.js";
import type { Marker } from "../claims/markers.js";
import { FIRST_ITEM_OPTIONS, FIRST_OPTIONS } from "../types/limit-first.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { demandList, shadowPayer } from "../types/payers.js";
import type {
  LimitFirstItem,
  LimitFirstOptions,
  LimitFirstResult,
  PaidCount,
} from "../types/limit-first.js";
import type { LimitRequest } from "../limits/limit-request.js";
import { type Memory, remember } from "../claims/receipt.js";
import { countsTake, withPayments } from "../claims/with-usage.js";
import { withHolds } from "../claims/with-holds.js";
import { rowKey } from "../../store/store.js";

export async function limitFirst(
  context: Context,
  items: readonly (string | LimitFirstItem)[],
  options: LimitFirstOptions = {},
): Promise<LimitFirstResult> {
  rejectUnknownOptions(options, FIRST_OPTIONS, "limitFirst()");
  const { requests, split } = payersOf(context, items, options, "limitFirst()");
  const { markerFor, environment } = context;
  const { once: id, hold } = options;
  const markers = id === undefined ? undefined : requests.map(({ limit }) => markerFor(limit, id));
  for (const [i, request] of requests.entries()) holdOf(options, request, markers?.[i]);
  const marked = payingOf(requests, split, markers, hold !== undefined, environment);
  const claim =
    hold === undefined
      ? marked
      : withHolds(marked, (answer) => heldShares(answer, requests, markers!, hold));
  let decided;
  try {
    const limits = requests.map(({ limit }) => limit);
    decided = await decideReclaiming(context, claim, limits, ({ ok }) => !ok);
  } catch (error) {
    return openFirst(context, requests, error);
  }
  const { answer, decision } = decided;
  const { now } = decision;
  const isHolding = hold !== undefined;
  return answer.ok
    ? paidBy(context, requests, answer, { now, markers, isHolding, readOnly: false })
    : deniedBy(context, requests, answer, now, options.throws);
}

/** The claim of limits that pay, in order. Counts the usage of those that hold nothing. */
export function payingOf(
  requests: readonly LimitRequest[],
  split: number | undefined,
  markers: readonly Marker[] | undefined,
  isHolding: boolean,
  { clock, random }: Context["environment"],
): Claim<FirstOfAnswer> {
  const payers = requests.map((request) => new Payer(request, chooseRows(request.limit, random)));
  const counted = requests.map(({ limit }, i) => {
    const isHeld = isHolding && limit.answer === undefined;
    return countsTake(limit, markers?.[i]) && !isHeld ? limit : undefined;
  });
  const taking = split === undefined ? firstOf(payers) : eachOf(payers, split);
  const paying = withPayments(taking, counted, clock());
  return markers === undefined ? paying : firstOnce(paying, payers, markers);
}

interface Paying {
  now: number;
  markers: readonly Marker[] | undefined;
  isHolding: boolean;
  /** Whether nothing was taken, because another limit of the call has denied it. */
  readOnly: boolean;
}

/** Makes the result of limits that pay. Reports what they have paid. */
export function paidBy(
  context: Context,
  requests: readonly LimitRequest[],
  { asked, repeated }: FirstOfAnswer,
  { now, markers, isHolding, readOnly }: Paying,
): LimitFirstResult {
  const { environment } = context;
  const paid: PaidCount[] = [];
  const results = asked.map(({ result, paid: count = 0 }, i) => {
    if (!result.ok) return result;
    const { limit, context: of } = requests[i]!;
    const key = limit.key !== undefined && { key: limit.key };
    if (!repeated) paid.push({ name: limit.name, ...key, count });
    const isHeld = isHolding && limit.holdRows !== undefined;
    const marker = markers?.[i];
    const memory = { limit, count, environment, readOnly, marker, isHeld, context: of, now };
    const own = remember(result, memory);
    if (readOnly) return own;
    const counting = countingOf(countsTake(limit, marker), own);
    report(context, "limit", { limit, count, context: of }, own, count > 0, counting);
    return own;
  });
  const payers = results.filter(({ ok }) => ok);
  const result = { ok: true as const, paid, results, ...(repeated && { repeated }) };
  return payment(requests, result, { payers, environment, readOnly });
}

/** Makes the result of limits of which none can pay. Reports each denial. */
export function deniedBy(
  context: Context,
  requests: readonly LimitRequest[],
  { asked, retryAfter }: FirstOfAnswer,
  now: number,
  throws: boolean = false,
): LimitFirstResult {
  const results = asked.map(({ result }) => result);
  for (const [i, result] of results.entries())
    report(context, "limit", requests[i]!, result, false);
  const soonest = soonestOf(results);
  const { name } = requests[soonest]!.limit;
  if (throws) {
    const denials = denialsOf(requests, results);
    const result = { ...results[soonest]!, retryAfter };
    const { denialMessage } = context.environment;
    throw denialError(denialMessage, requests[soonest]!, result, now, denials);
  }
  return { ok: false, retryAfter, name, results };
}

/** The index of the denial with the shortest wait: the call passes when this limit can pay. */
export function soonestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ retryAfter = 0 }) => retryAfter);
  return waits.indexOf(Math.min(...waits));
}

/** The denials of limits of which none can pay. */
export function denialsOf(
  requests: readonly LimitRequest[],
  results: readonly RateLimitResult[],
): Denied[] {
  return results.map(({ retryAfter = 0, value }, i) => {
    const { name, config } = requests[i]!.limit;
    return { name, retryAfter, value, config };
  });
}

/** The answer instead of a failure of the store, if one of the limits lets calls through then. */
function openFirst(
  context: Context,
  requests: readonly LimitRequest[],
  error: unknown,
): LimitFirstResult {
  const opened = openedBy(context, requests, error);
  if (opened === undefined) throw error;
  report(context, "limit", opened.request, opened.answer, false);
  return opened.result;
}

/** The first of the limits that lets calls through when the store fails, and the result of the call. */
export function openedBy(
  context: Context,
  requests: readonly LimitRequest[],
  error: unknown,
): Opened<LimitFirstResult> | undefined {
  const { environment } = context;
  for (const request of requests) {
    const { limit, count: passed, context: told } = request;
    const opened = context.opened(error, limit);
    if (opened === undefined) continue;
    const memory = { limit, count: 0, environment, readOnly: false, passed, context: told };
    const own = remember(opened, memory);
    const answer = { ok: true as const, paid: [], results: [own] };
    const of = { payers: [own], environment };
    return { request, answer: opened, result: payment(requests, answer, of) };
  }
  return undefined;
}

/** A call that an outage lets through. */
export interface Opened<TResult> {
  readonly request: LimitRequest;
  /** The answer of the limit. */
  readonly answer: RateLimitResult;
  readonly result: TResult;
}

/** `settle` charges the limit of the first request, whether that limit paid or not. */
function payment(
  requests: readonly LimitRequest[],
  result: LimitFirstResult & { ok: true },
  of: Pick<Memory, "payers" | "environment" | "readOnly">,
): LimitFirstResult {
  const names = requests.map(({ limit: { name } }) => name);
  const { limit, context } = requests[0]!;
  return remember(result, { limit, count: 0, names, context, ...of });
}

/** A list of limits that may pay for a call, and the terms that they share. */
type Sharing = Pick<LimitFirstOptions, "key" | "count" | "split" | "context"> & PlanOptions;

/**
 * The requests of limits that may pay, checked. `split` is the count that they pay together; `undefined`
 * where one of them pays.
 *
 * @param of what has the list, for messages.
 */
export function payersOf(
  context: Context,
  items: readonly (string | LimitFirstItem)[],
  options: Sharing,
  of: string,
): { requests: LimitRequest[]; split: number | undefined } {
  const requests = requestsOf(context, items, options, of);
  const count = countOf(options);
  // A count of 0 is not split: the first limit answers, by whether it is in debt.
  const together = options.split === true && count > 0;
  validatePayable(requests, count, together);
  return { requests, split: together ? count : undefined };
}

function requestsOf(
  context: Context,
  items: readonly (string | (LimitFirstItem & PlanOptions))[],
  options: Sharing,
  of: string,
): LimitRequest[] {
  demandList(items, of, "items");
  const { split = false } = options;
  const count = countOf(options);
  const rows = new Set<string>();
  return items.map((given: string | (LimitFirstItem & PlanOptions)) => {
    const item: LimitFirstItem & PlanOptions = typeof given === "string" ? { name: given } : given;
    rejectUnknownOptions(item, FIRST_ITEM_OPTIONS, `an item of ${of}`);
    if (split && "count" in item) throw notSplit("count", item.count, OWN_COUNT);
    // `key: undefined` is a mistake, in the item as in the call.
    const limit = context.resolve(item.name, {
      ...("key" in item ? { key: item.key } : "key" in options && { key: options.key }),
      config: item.config,
      plan:
        item.config === undefined ? (item.plan ?? planFor(context, item.name, options)) : undefined,
    });
    // The limit of an exempt caller looks like a shadow, too, but pays for every call.
    if (limit.config.shadow && limit.answer === undefined) throw shadowPayer(of, limit.name);
    const row = rowKey(limit.rows[0]);
    if (rows.has(row)) throw twice(limit.name, of);
    rows.add(row);
    const own = "count" in item ? countOf(item) : count;
    return { limit, count: own, reserve: false, maxWait: undefined, context: options.context };
  });
}

/** The plan of the call is for its limits with plans. Credits, which may pay after them, have no plan. */
function planFor({ plans }: Context, name: string, { plan }: PlanOptions): string | undefined {
  return plans.has(name) ? plan : undefined;
}

const OWN_COUNT = "the limits pay for one count together; give it to the call, and not to an item";

function notSplit(option: string, value: unknown, reason: string): RateLimitConfigError {
  const message = `${option} of an item does not go with split, got ${String(value)}: ${reason}`;
  return new RateLimitConfigError(option, value, { message });
}

export function twice(name: string, of: string): RateLimitConfigError {
  const message = `${of} asks each limit once, and "${name}" is there twice with one key`;
  return new RateLimitConfigError("items", name, { message });
}

/** Throws for a call that can never pass. One limit that can hold the tokens is enough. */
function validatePayable(requests: readonly LimitRequest[], count: number, split: boolean): void {
  const isPossible = split
    ? isPayable(requests, count)
    : requests.some(({ limit, count: own }) => isSatisfiable(limit.config, own, false));
  // The answer of an override does not depend on the count.
  if (isPossible || requests.some(({ limit }) => limit.answer !== undefined)) return;
  const names = requests.map(({ limit }) => `"${limit.name}"`).join(", ");
  const message = split
    ? `count ${count} can never be granted by ${names} together: their capacities are less`
    : `no call for ${requests.map((request) => request.count).join(", ")} tokens can ever be ` +
      `granted by ${names}: the capacity of each is less`;
  throw new RateLimitInputError("unsatisfiable", message);
}

/** Whether the limits can ever give so many tokens together. */
function isPayable(requests: readonly LimitRequest[], count: number): boolean {
  const purses = requests.map(({ limit: { config, part } }) => ({
    value: mostHeld(config),
    tolerance: usedShards(config) * toleranceOf(part),
  }));
  return sharesOf(purses, count) !== undefined;
}
