/** The operations of a limiter, on anything that executes decisions: a store, or a transaction. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { WhenKnown } from "./when-known.js";
import type { ChargeOptions } from "../types/charge.js";
import type { KeyOptions } from "../types/call.js";
import type {
  ItemResult,
  LimitAllItem,
  LimitAllOptions,
  LimitAllResult,
  ResultsOf,
} from "../types/limit-all.js";
import type { LimitOptions, LimitResult } from "../types/limit.js";
import type { ObserveOptions } from "../types/observe.js";
import type { RefundOptions } from "../types/refund.js";
import type { ValueOptions } from "../types/read.js";
import { charge } from "./charge.js";
import type { Context } from "../context/context.js";
import { planChanged } from "./plan-changed.js";
import { credit } from "./credit.js";
import { check } from "./check.js";
import { limit } from "./limit.js";
import { type GivenItems, limitAll } from "./limit-all.js";
import { type AsManyOptions, limitAsMany } from "./limit-as-many.js";
import { limitFirst } from "./limit-first.js";
import type { CreditOptions } from "../types/credit.js";
import type { LimitFirstItem, LimitFirstOptions, LimitFirstResult } from "../types/limit-first.js";
import type { HoldOptions, SettledHold, SettleResult } from "../types/settle.js";
import { type HeldNames, releaseHold, settleHold } from "../holds/settle-hold.js";
import { observe } from "./observe.js";
import { getValue, snapshots } from "./read.js";
import { isPayment, refund, refundPayment } from "./refund.js";
import { reset } from "./reset.js";
import type { Usage, UsageByName } from "../holds/reported-use.js";
import { settle } from "./settle.js";
import { type AnyAnswer, isAnswerOfAll, settleAll } from "./settle-all.js";

type ByResult = [result: RateLimitResult | LimitFirstResult, actual: Usage];
type ByAnswer = [answer: AnyAnswer, actual: Usage | UsageByName];
type ById = [names: HeldNames, options: HoldOptions, actual: Usage | UsageByName];

/**
 * Whether `settle` names a hold, by its limits and its id. Without a hold, `settle` gets the result of a
 * call.
 */
function isById(args: ByResult | ByAnswer | ById): args is ById {
  const [first, second] = args;
  return (typeof first === "string" || Array.isArray(first)) && typeof second === "object";
}

function isByAnswer(args: ByResult | ByAnswer): args is ByAnswer {
  return isAnswerOfAll(args[0]);
}

/** `settle` is one method for results and for holds, with a result type for each. */
export interface Settle {
  (...args: ByResult): Promise<SettleResult>;
  (...args: ByAnswer): Promise<SettleResult>;
  (...args: ById): Promise<SettledHold>;
}

/** Whether a call wants as many tokens as fit. In plain JavaScript, its options can be any value. */
function isAsMany(options: LimitOptions | undefined): options is AsManyOptions {
  return typeof options === "object" && options !== null && "atLeast" in options;
}

/** `limit` and `check`: with `atLeast`, a grant says how many tokens it got. */
export type Limit = <TAtLeast extends number = never>(
  name: string,
  options?: LimitOptions<TAtLeast>,
) => Promise<LimitResult<TAtLeast>>;

/** `limitAll`: the results are those of its items, in order. */
export interface LimitAll {
  <const TItems extends GivenItems>(
    items: TItems,
    options?: LimitAllOptions,
  ): Promise<LimitAllResult<ResultsOf<TItems>>>;
  (items: readonly LimitAllItem[], options?: LimitAllOptions): Promise<LimitAllResult>;
  (items: GivenItems, options?: LimitAllOptions): Promise<LimitAllResult<ItemResult[]>>;
}

/** @param whenKnown wraps each operation. */
export function createOperations(context: Context, whenKnown: WhenKnown) {
  return {
    limit: whenKnown((name: string, options?: LimitOptions) =>
      isAsMany(options) ? limitAsMany(context, name, options) : limit(context, name, options),
    ) as Limit,
    check: whenKnown((name: string, options?: LimitOptions) =>
      check(context, name, options),
    ) as Limit,
    limitAll: whenKnown((items: GivenItems, options?: LimitAllOptions) =>
      limitAll(context, items, options),
    ) as LimitAll,
    charge: whenKnown((name: string, options?: ChargeOptions) => charge(context, name, options)),
    limitFirst: whenKnown(
      (items: readonly (string | LimitFirstItem)[], options?: LimitFirstOptions) =>
        limitFirst(context, items, options),
      "first",
    ),
    credit: whenKnown((name: string, options: CreditOptions) => credit(context, name, options)),
    settle: whenKnown(
      (...args: ByResult | ByAnswer | ById): Promise<SettleResult | SettledHold> => {
        if (isById(args)) return settleHold(context, ...args);
        return isByAnswer(args) ? settleAll(context, ...args) : settle(context, ...args);
      },
    ) as Settle,
    release: whenKnown((names: HeldNames, options: HoldOptions) =>
      releaseHold(context, names, options),
    ),
    refund: whenKnown((name: string | LimitFirstResult, options?: RefundOptions) =>
      isPayment(name) ? refundPayment(context, name, options) : refund(context, name, options),
    ),
    reset: whenKnown((name: string, options?: KeyOptions) => reset(context, name, options)),
    planChanged: (key: string): void => planChanged(context, key),
    observe: whenKnown((name: string, options: ObserveOptions) => observe(context, name, options)),
    getValue: whenKnown((name: string, options?: ValueOptions) =>
      getValue(context, name, options as KeyOptions | undefined),
    ),
    // The names of the snapshots are those of the items. The compiler cannot see that through the types
    // of plans.
    snapshots: whenKnown(
      <TName extends string>(items: readonly (KeyOptions & { name: string })[]) =>
        snapshots(context, items as readonly (KeyOptions & { name: TName })[]),
    ),
  };
}
