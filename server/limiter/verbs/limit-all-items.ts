/** The items of `limitAll`, checked: each is a limit, or several limits of which the first pays. */
import type { RateLimitResult } from "../../../core/decide.js";
import { rowsToLimit } from "../claims/choose-shards.js";
import type { Claim } from "../claims/draft.js";
import type { NewHold } from "../claims/end-hold.js";
import type { Environment } from "../claims/environment.js";
import type { FirstOfAnswer } from "../claims/first-of.js";
import { heldShares } from "../claims/first-once.js";
import { holdOf } from "../claims/hold-request.js";
import type { Marker } from "../claims/markers.js";
import { once } from "../claims/once.js";
import { remember } from "../claims/receipt.js";
import { TokenClaim } from "../claims/token-claim.js";
import { isTaken } from "../claims/with-holds.js";
import { countsTake, withTake } from "../claims/with-usage.js";
import { type Context, countingOf, report } from "../context/context.js";
import type { Denied } from "../limits/denial-error.js";
import type { LimitRequest } from "../limits/limit-request.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import { type HoldTerms, severalShares, unheld } from "../types/hold-terms.js";
import type { ItemResult, LimitAllOptions } from "../types/limit-all.js";
import type { LimitFirstResult } from "../types/limit-first.js";
import { inShadow } from "./limit.js";
import {
  deniedBy,
  denialsOf,
  type Opened,
  openedBy,
  paidBy,
  payingOf,
  soonestOf,
} from "./limit-first.js";

/** The answer of the rows to an item. */
export type ItemAnswer = RateLimitResult | FirstOfAnswer;

/** What became of the call. */
interface Decided {
  /** Whether all items were granted. If not, none of them has taken tokens. */
  ok: boolean;
  /** Whether the item changed a row. */
  changed: boolean;
  /** When the call was decided, epoch ms. */
  now: number;
}

/** The limits of an item that have denied the call. */
interface Denials {
  all: readonly Denied[];
  /** The request that a denial of the item is about, and the tokens that its limit has left. */
  about: { request: LimitRequest; value: number };
}

abstract class Item<TAnswer extends ItemAnswer, TResult extends ItemResult> {
  /** One for each limit that may be charged. */
  abstract readonly requests: readonly LimitRequest[];
  /** The markers of the call's id, one for each request. */
  markers: readonly Marker[] | undefined;
  /** How the tokens are held under the id; `undefined` for tokens that are spent. */
  hold: HoldTerms | undefined;

  get hasHolds(): boolean {
    return this.requests.some(hasHolds);
  }

  abstract claim(environment: Environment): Claim<TAnswer>;
  abstract holdsOf(answer: TAnswer): readonly NewHold[];
  /** Makes the result of the item. Reports its charge, or its denial. */
  abstract answered(context: Context, answer: TAnswer, decided: Decided): TResult;
  abstract denials(result: TResult): Denials;
  /** The result instead of a failure of the store; `undefined` if the item does not pass then. */
  abstract opened(context: Context, error: unknown): Opened<TResult> | undefined;
}

export class OneLimit extends Item<RateLimitResult, RateLimitResult> {
  override readonly requests: readonly [LimitRequest];

  constructor(readonly request: LimitRequest) {
    super();
    this.requests = [request];
  }

  override claim({ random, clock }: Environment): Claim<RateLimitResult> {
    const { request, markers } = this;
    const { limit, count } = request;
    const take = new TokenClaim(request, rowsToLimit(limit, random));
    const isCounted = countsTake(limit, markers?.[0]) && !this.isHeld;
    const claim = isCounted ? withTake(take, limit, count, clock()) : take;
    return markers === undefined ? claim : once(claim, limit, markers[0]!);
  }

  /** An override that answers the call holds no tokens. */
  private get isHeld(): boolean {
    return this.hold !== undefined && this.request.limit.answer === undefined;
  }

  override holdsOf(answer: RateLimitResult): readonly NewHold[] {
    const { limit, count } = this.request;
    const marker = this.markers?.[0];
    return this.isHeld && isTaken(answer)
      ? [{ ...this.hold!, count, limit, marker: marker!, isShare: false }]
      : [];
  }

  override answered(context: Context, answer: RateLimitResult, decided: Decided): RateLimitResult {
    const { limit, count, context: told } = this.request;
    const { ok, changed, now } = decided;
    const { environment } = context;
    const { isHeld } = this;
    const shown = limit.config.shadow ? inShadow(answer, now) : answer;
    const [marker] = this.markers ?? [];
    const of = { limit, count, environment, readOnly: !ok, marker, isHeld, context: told, now };
    const result = remember(shown, of);
    if (!ok && answer.ok) return result;
    // A shadow lets its own item pass. If another limit has denied the call, nothing was used.
    const isCounted = countsTake(limit, marker);
    const passes = ok ? countingOf(isCounted, result) : "none";
    report(context, "limit", this.request, result, changed, result.ok ? passes : "sum");
    return result;
  }

  override denials({ ok, retryAfter = 0, value }: RateLimitResult): Denials {
    const { request } = this;
    const { name, config } = request.limit;
    return { all: ok ? [] : [{ name, retryAfter, value, config }], about: { request, value } };
  }

  override opened(context: Context, error: unknown): Opened<RateLimitResult> | undefined {
    const { request } = this;
    const { limit, count: passed, context: told } = request;
    const { environment } = context;
    const answer = context.opened(error, limit);
    if (answer === undefined) return undefined;
    const of = { limit, count: 0, environment, readOnly: false, passed, context: told };
    return { request, answer, result: remember(answer, of) };
  }
}

/** Several limits, of which the first that has the tokens pays. With `split`, each gives what it has. */
export class FirstOfLimits extends Item<FirstOfAnswer, LimitFirstResult> {
  /** @param split the count that the limits pay together; `undefined` where one of them pays. */
  constructor(
    override readonly requests: readonly LimitRequest[],
    private readonly split: number | undefined,
  ) {
    super();
  }

  override claim(environment: Environment): Claim<FirstOfAnswer> {
    const { requests, split, markers, hold } = this;
    return payingOf(requests, split, markers, hold !== undefined, environment);
  }

  override holdsOf(answer: FirstOfAnswer): readonly NewHold[] {
    const { hold, requests, markers } = this;
    return hold === undefined ? [] : heldShares(answer, requests, markers!, hold);
  }

  override answered(context: Context, answer: FirstOfAnswer, decided: Decided): LimitFirstResult {
    const { requests, markers, hold } = this;
    const { ok, now } = decided;
    if (!answer.ok) return deniedBy(context, requests, answer, now);
    const isHolding = hold !== undefined;
    return paidBy(context, requests, answer, { now, markers, isHolding, readOnly: !ok });
  }

  override denials({ ok, results }: LimitFirstResult): Denials {
    const { requests } = this;
    const soonest = soonestOf(results);
    const about = { request: requests[soonest]!, value: results[soonest]!.value };
    return { all: ok ? [] : denialsOf(requests, results), about };
  }

  override opened(context: Context, error: unknown): Opened<LimitFirstResult> | undefined {
    return openedBy(context, this.requests, error);
  }
}

export type AllItem = OneLimit | FirstOfLimits;

/** Gives the items the id of their call, and its hold. */
export function markItems(
  { markerFor }: Pick<Context, "markerFor">,
  items: readonly AllItem[],
  { once: id, hold }: LimitAllOptions,
): void {
  for (const item of items) {
    item.markers = id === undefined ? id : item.requests.map(({ limit }) => markerFor(limit, id));
  }
  const [first] = items;
  if (hold === undefined || first === undefined) return;
  if (!items.some(({ hasHolds: own }) => own)) throw unheld(first.requests[0].limit.name, hold);
  const firsts = items.filter((item) => item instanceof FirstOfLimits && item.hasHolds).length;
  if (firsts > 1) throw severalShares(firsts, hold);
  for (const item of items) {
    if (!item.hasHolds) continue;
    for (const [i, request] of item.requests.entries()) {
      // Limits that pay together settle together, so all of them need holds.
      if (!hasHolds(request)) throw unheld(request.limit.name, hold);
      holdOf({ hold }, request, item.markers?.[i]);
    }
    item.hold = hold;
  }
}

function hasHolds({ limit }: LimitRequest): boolean {
  return beneathAnswer(limit).holdRows !== undefined;
}
