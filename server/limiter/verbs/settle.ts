/** `settle`: corrects the estimate that a call took to the tokens that were really used. */
import { validateCount } from "../../../core/count.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { RateLimitInputError } from "../../../core/errors.js";
import type { SettleResult } from "../types/settle.js";
import { chargeLimit } from "./charge.js";
import type { Context } from "../context/context.js";
import { giveBack, usePassed } from "./give-back.js";
import type { LimitFirstResult } from "../types/limit-first.js";
import { endHolds } from "../holds/settle-hold.js";
import type { Environment } from "../claims/environment.js";
import { ownReceiptOf, type Receipt } from "../claims/receipt.js";
import { endingOf, isMissing, type Usage, warnOf } from "../holds/reported-use.js";
import { isPayment, paymentOf } from "./refund.js";

/**
 * Tokens that were used beyond the estimate are charged into debt; for `limitFirst`, to its first limit.
 */
export async function settle(
  context: Context,
  result: RateLimitResult | LimitFirstResult,
  actual: Usage,
): Promise<SettleResult> {
  const { environment } = context;
  if (!isMissing(actual)) validateCount(actual);
  const receipt = receiptToSettle(environment, result);
  const { holds, isTaken, limit } = receipt;
  // A repeated call took nothing: the first call with the id settles the tokens. A call that a shadow
  // would have denied took nothing, too, so only its usage is corrected.
  if (!isTaken && holds.length === 0) {
    if (result.ok && "shadow" in result && !isMissing(actual)) usePassed(context, receipt, actual);
    return { settled: false };
  }
  if (isMissing(actual)) warnOf(context, limit.name, actual);
  if (holds.length > 0) {
    const { ok } = await endHolds(context, holds, endingOf(actual));
    return { settled: ok && !isMissing(actual) };
  }
  if (isMissing(actual)) return { settled: false };
  // If an outage let the call through, all tokens that the call used are charged below. So these tokens
  // no longer count as passed.
  for (const each of [receipt, ...receipt.payers]) usePassed(context, each, 0);
  const { scope } = environment;
  await receipt.inTurn(scope, async () => {
    const difference = actual - receipt.countIn(scope);
    if (difference < 0) await giveBack(context, receipt, -difference);
    if (difference <= 0) return;
    const { context: of } = receipt.memory;
    const charged = await chargeLimit(context, receipt.limit, difference, { context: of });
    if (charged.ok) receipt.charge(difference, charged, scope);
  });
  return { settled: true };
}

/** @throws RateLimitInputError for a result that cannot be settled. */
export function receiptToSettle(
  environment: Environment,
  result: RateLimitResult | LimitFirstResult,
): Receipt {
  const receipt = isPayment(result)
    ? paymentOf(result, environment)
    : ownReceiptOf(result, environment);
  if (receipt === undefined || receipt.readOnly || !result.ok) throw unsettleable(result);
  return receipt;
}

function unsettleable(result: RateLimitResult | LimitFirstResult): RateLimitInputError {
  const message =
    result && !result.ok
      ? "a denied call took no tokens, so there is nothing to settle: use charge() for what was used"
      : "settle() needs the result of a call that took tokens, the one that limit, acquire or a " +
        "granted limitAll returned, and not a copy: for a copy, use refund() or charge() with the " +
        "difference";
  return new RateLimitInputError("result", message);
}
