/** The operations of a limiter, on anything that executes decisions: a store, or a transaction. */
import type { RateLimitResult } from "../../core/decide.js";
import type {
  ChargeOptions,
  KeyOptions,
  LimitAllItem,
  LimitAllOptions,
  LimitOptions,
  RefundOptions,
} from "./call-options.js";
import { charge } from "./charge.js";
import type { Context } from "./context.js";
import { credit } from "./credit.js";
import { check, limit } from "./limit.js";
import { limitAll } from "./limit-all.js";
import { limitFirst } from "./limit-first.js";
import type {
  CreditOptions,
  LimitFirstItem,
  LimitFirstOptions,
  LimitFirstResult,
} from "./limit-first-options.js";
import { getValue, snapshots } from "./read.js";
import { isPayment, refund, refundPayment } from "./refund.js";
import { reset } from "./reset.js";
import { settle } from "./settle.js";

export function createOperations(context: Context) {
  return {
    limit: (name: string, options?: LimitOptions) => limit(context, name, options),
    check: (name: string, options?: LimitOptions) => check(context, name, options),
    limitAll: (items: readonly LimitAllItem[], options?: LimitAllOptions) =>
      limitAll(context, items, options),
    charge: (name: string, options?: ChargeOptions) => charge(context, name, options),
    limitFirst: (items: readonly (string | LimitFirstItem)[], options?: LimitFirstOptions) =>
      limitFirst(context, items, options),
    credit: (name: string, options: CreditOptions) => credit(context, name, options),
    settle: (result: RateLimitResult | LimitFirstResult, actual: number) =>
      settle(context, result, actual),
    refund: (name: string | LimitFirstResult, options?: RefundOptions) =>
      isPayment(name) ? refundPayment(context, name, options) : refund(context, name, options),
    reset: (name: string, options?: KeyOptions) => reset(context, name, options),
    getValue: (name: string, options?: KeyOptions) => getValue(context, name, options),
    snapshots: <TName extends string>(items: readonly (KeyOptions & { name: TName })[]) =>
      snapshots(context, items),
  };
}
