/** The operations on limits, on their own or inside a transaction. */
import type { ChargeMethods } from "./charge.js";
import type { CreditMethods } from "./credit.js";
import type { LimitAllMethods } from "./limit-all.js";
import type { LimitFirstMethods } from "./limit-first.js";
import type { LimitMethods } from "./limit.js";
import type { LimitConfigs, TokensName } from "./names.js";
import type { ObserveMethods } from "./observe.js";
import type { PlanMethods } from "./plan-changed.js";
import type { PlanBy } from "./plan-types.js";
import type { ValueMethods } from "./read.js";
import type { RefundMethods } from "./refund.js";
import type { ResetMethods } from "./reset.js";
import type { SettleMethods } from "./settle.js";

/**
 * The operations on limits, on their own or inside a transaction. Every method rejects with a
 * `RateLimitInputError` for an unknown name and for a key or a count that is not valid, and with a
 * `RateLimitStoreError` when the store fails. A call that rejects consumes no tokens, with one exception:
 * a write may have taken effect although its answer was lost.
 *
 * A method takes the limiter's own names, and any name with a `config`. A method has one signature for
 * both cases: of two overloads, editors show both errors, and the first error is about a missing
 * `config`. `limitAll` has three overloads, because each name of a list depends on a config of its own, and
 * each result on a `first`. The overload of the limiter's own names comes last, because the compiler
 * reports the error of the last overload.
 */
export interface RateLimitOperations<
  TLimits extends LimitConfigs,
  TTokens extends string = TokensName<TLimits>,
  TBy extends PlanBy = "call",
>
  extends
    LimitMethods<TLimits, TTokens, TBy>,
    LimitAllMethods<TLimits, TTokens, TBy>,
    LimitFirstMethods<TLimits, TBy>,
    CreditMethods<TLimits>,
    ChargeMethods<TLimits, TTokens, TBy>,
    SettleMethods<TLimits, TTokens>,
    ResetMethods<TLimits>,
    PlanMethods,
    ObserveMethods<TLimits>,
    RefundMethods<TLimits, TTokens>,
    ValueMethods<TLimits, TBy> {}
