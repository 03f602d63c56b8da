/** The operations of a limiter, on anything that executes decisions: a store, or a transaction. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { Known } from "../answers/known.js";
import type { ChargeOptions } from "../types/charge.js";
import type { KeyOptions } from "../types/call.js";
import type { LimitAllItem, LimitAllOptions } from "../types/limit-all.js";
import type { LimitOptions } from "../types/limit.js";
import type { ObserveOptions } from "../types/observe.js";
import type { RefundOptions } from "../types/refund.js";
import type { ValueOptions } from "../types/read.js";
import { charge } from "./charge.js";
import type { Context } from "../context/context.js";
import { planChanged } from "./plan-changed.js";
import { credit } from "./credit.js";
import { check } from "./check.js";
import { limit } from "./limit.js";
import { limitAll } from "./limit-all.js";
import { limitFirst } from "./limit-first.js";
import type { CreditOptions } from "../types/credit.js";
import type { LimitFirstItem, LimitFirstOptions, LimitFirstResult } from "../types/limit-first.js";
import type { HoldOptions } from "../types/settle.js";
import { type HeldNames, releaseHold, settleHold } from "../holds/settle-hold.js";
import { observe } from "./observe.js";
import { getValue, snapshots } from "./read.js";
import { isPayment, refund, refundPayment } from "./refund.js";
import { reset } from "./reset.js";
import type { Usage, UsageByName } from "../holds/reported-use.js";
import { settle } from "./settle.js";

type SettleArgs =
  | [result: RateLimitResult | LimitFirstResult, actual: Usage]
  | [names: HeldNames, options: HoldOptions, actual: Usage | UsageByName];

function isOfHold(args: SettleArgs): args is Extract<SettleArgs, { length: 3 }> {
  const [first, second] = args;
  return (typeof first === "string" || Array.isArray(first)) && typeof second === "object";
}

/** @param known the first link, which some limiters do not have. */
export function createOperations(context: Context, known: Known) {
  return {
    limit: known((name: string, options?: LimitOptions) => limit(context, name, options)),
    check: known((name: string, options?: LimitOptions) => check(context, name, options)),
    limitAll: known((items: readonly LimitAllItem[], options?: LimitAllOptions) =>
      limitAll(context, items, options),
    ),
    charge: known((name: string, options?: ChargeOptions) => charge(context, name, options)),
    limitFirst: known(
      (items: readonly (string | LimitFirstItem)[], options?: LimitFirstOptions) =>
        limitFirst(context, items, options),
      "first",
    ),
    credit: known((name: string, options: CreditOptions) => credit(context, name, options)),
    settle: known((...args: SettleArgs) => {
      const settled = isOfHold(args) ? settleHold(context, ...args) : settle(context, ...args);
      return settled as Promise<never>;
    }),
    release: known((names: HeldNames, options: HoldOptions) =>
      releaseHold(context, names, options),
    ),
    refund: known((name: string | LimitFirstResult, options?: RefundOptions) =>
      isPayment(name) ? refundPayment(context, name, options) : refund(context, name, options),
    ),
    reset: known((name: string, options?: KeyOptions) => reset(context, name, options)),
    planChanged: (key: string): void => planChanged(context, key),
    observe: known((name: string, options: ObserveOptions) => observe(context, name, options)),
    getValue: known((name: string, options?: ValueOptions) =>
      getValue(context, name, options as KeyOptions | undefined),
    ),
    // The names are those of the items, which the compiler cannot follow through their plans.
    snapshots: known(<TName extends string>(items: readonly (KeyOptions & { name: string })[]) =>
      snapshots(context, items as readonly (KeyOptions & { name: TName })[]),
    ),
  };
}
