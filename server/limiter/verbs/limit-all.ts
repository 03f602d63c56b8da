/** `limitAll`: several requests as one decision. All of them take their tokens, or none does. */
import { validateSatisfiable } from "../../../core/count.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { rowKey } from "../../store/store.js";
import type { LimitAllItem, LimitAllOptions, LimitAllResult } from "../types/limit-all.js";
import { rowsToLimit } from "../claims/choose-shards.js";
import { allOf, type AllOfAnswer } from "../claims/all-of.js";
import { isTaken, withHolds } from "../claims/with-holds.js";
import { TokenClaim } from "../claims/token-claim.js";
import { type Context, countingOf, report } from "../context/context.js";
import type { Environment } from "../claims/environment.js";
import { denialError, type Denied } from "../limits/denial-error.js";
import type { Claim } from "../claims/draft.js";
import { countsTake, withTake } from "../claims/with-usage.js";
import { holdOf, type HoldRequest } from "../claims/hold-request.js";
import { unheld } from "../types/hold-terms.js";
import { decideReclaiming } from "../holds/reclaim.js";
import { ITEM_OPTIONS, LIMIT_ALL_OPTIONS } from "../types/limit-all.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { inShadow } from "./limit.js";
import { type LimitRequest, requestOf } from "../limits/limit-request.js";
import type { Marker } from "../claims/markers.js";
import { once } from "../claims/once.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import { remember } from "../claims/receipt.js";

export async function limitAll(
  context: Context,
  items: readonly LimitAllItem[],
  options: LimitAllOptions = {},
): Promise<LimitAllResult> {
  const { environment } = context;
  rejectUnknownOptions(options, LIMIT_ALL_OPTIONS, "limitAll()");
  const requests = requestsOf(context, items);
  const { once: id } = options;
  const markers =
    id === undefined ? undefined : requests.map(({ limit }) => context.markerFor(limit, id));
  if (requests.length === 0) return { ok: true, results: [] };
  const holds = holdsOf(options, requests, markers);
  const claim = claimAll(requests, environment, markers, holds);
  let decided;
  try {
    const limits = requests.map(({ limit }) => limit);
    decided = await decideReclaiming(context, claim, limits, ({ ok }) => !ok);
  } catch (error) {
    return openAll(context, requests, error);
  }
  const { answer, decision } = decided;
  return answerAll(context, requests, answer, decision.now, options, markers, holds);
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

/** Makes the result of a call that is decided. Reports each charge and each denial. */
export function answerAll(
  context: Context,
  requests: readonly LimitRequest[],
  answer: AllOfAnswer,
  now: number,
  options: LimitAllOptions,
  markers?: readonly Marker[],
  holds?: readonly (HoldRequest | undefined)[],
): LimitAllResult {
  const { environment } = context;
  const { ok, retryAfter, changed } = answer;
  const results = requests.map((request, i) => {
    const given = answer.results[i]!;
    const result = request.limit.config.shadow ? inShadow(given, now) : given;
    // When the call is denied, no item has taken tokens that could be settled.
    const { limit, count } = request;
    const marker = markers?.[i];
    const isHeld = holds?.[i] !== undefined;
    return remember(result, { limit, count, environment, readOnly: !ok, marker, isHeld, now });
  });
  for (const [i, request] of requests.entries()) {
    const isDenied = !answer.results[i]!.ok;
    if (!ok && !isDenied) continue;
    // A shadow lets its own item pass. If another limit has denied the call, nothing was used.
    const isCounted = countsTake(request.limit, markers?.[i]);
    const passes = ok ? countingOf(isCounted, results[i]!) : "none";
    const counting = results[i]!.ok ? passes : "sum";
    report(context, "limit", request, results[i]!, changed[i]!, counting);
  }
  if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
  const slowest = slowestOf(results);
  if (options.throws) {
    const denials = denialsOf(requests, results);
    const result = { ...results[slowest]!, retryAfter };
    const { denialMessage } = context.environment;
    throw denialError(denialMessage, requests[slowest]!, result, now, denials);
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
  const opened = requests.map(({ limit }) => context.opened(error, limit));
  if (!opened.every((result) => result !== undefined)) throw error;
  for (const [i, request] of requests.entries()) {
    report(context, "limit", request, opened[i]!, false);
  }
  const results = requests.map(({ limit, count: passed }, i) => {
    return remember(opened[i]!, { limit, count: 0, environment, readOnly: false, passed });
  });
  return { ok: true, results };
}

/** The decision on several requests: all of them take their tokens, or none does. */
export function claimAll(
  requests: readonly LimitRequest[],
  { random, clock }: Pick<Environment, "clock" | "random">,
  markers?: readonly Marker[],
  holds?: readonly (HoldRequest | undefined)[],
): Claim<AllOfAnswer> {
  const claims = requests.map((request, i) => {
    const { limit, count } = request;
    const marker = markers?.[i];
    const take = new TokenClaim(request, rowsToLimit(limit, random));
    const isCounted = countsTake(limit, marker) && holds?.[i] === undefined;
    const claim = isCounted ? withTake(take, limit, count, clock()) : take;
    return marker === undefined ? claim : once(claim, limit, marker);
  });
  const claim = allOf(claims);
  if (holds === undefined) return claim;
  const heldBy = ({ ok, results }: AllOfAnswer) =>
    results.flatMap((result, i) => {
      const hold = ok && isTaken(result) ? holds[i] : undefined;
      return hold ? [{ ...hold, limit: requests[i]!.limit, marker: markers![i]! }] : [];
    });
  return withHolds(claim, heldBy, false);
}

/** How the items hold their tokens; `undefined` for items of limits without holds. */
function holdsOf(
  options: LimitAllOptions,
  requests: readonly LimitRequest[],
  markers: readonly Marker[] | undefined,
): readonly (HoldRequest | undefined)[] | undefined {
  if (options.hold === undefined) return undefined;
  const hasHolds = ({ limit }: LimitRequest) => beneathAnswer(limit).holdRows !== undefined;
  if (!requests.some(hasHolds)) throw unheld(requests[0]!.limit.name, options.hold);
  return requests.map((request, i) =>
    hasHolds(request) ? holdOf(options, request, markers?.[i]) : undefined,
  );
}

/** The denied requests, by name. Of several denials with one name, the denial with the longest wait. */
function denialsOf(
  requests: readonly LimitRequest[],
  results: readonly RateLimitResult[],
): readonly Denied[] {
  const denials = new Map<string, Denied>();
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
    // By the row: two keys are one bucket if `hashKey` returns the same for the two.
    const id = rowKey(limit.rows[0]);
    const total = (totals.get(id) ?? 0) + count;
    totals.set(id, total);
    validateSatisfiable(name, config, total, reserve);
  }
}
