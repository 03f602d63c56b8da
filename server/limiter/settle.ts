/** `settle`: an estimate that a call took becomes what was really used. */
import { validateCount } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import { RateLimitInputError } from "../../core/errors.js";
import { chargeLimit } from "./charge.js";
import type { Context } from "./context.js";
import type { LimitFirstResult } from "./limit-first-options.js";
import { isPayment, settlePayment } from "./payment.js";
import { refundResult } from "./refund.js";
import { ownTakenOf, type Taken } from "./taken.js";

/** For figures of a provider, which can be missing. */
export const UNKNOWN =
  "; where the use is not known, do not call settle(), and the estimate stays charged";

export async function settle(
  context: Context,
  result: RateLimitResult | LimitFirstResult,
  actual: number,
): Promise<void> {
  const { environment } = context;
  validateCount(actual, UNKNOWN);
  if (isPayment(result)) return settlePayment(context, result, () => actual);
  const taken = ownTakenOf(result, environment);
  if (taken === undefined || taken.readOnly || !result.ok) throw unsettleable(result);
  // The first call with the id took the tokens, and settles them.
  if (result.repeated) return;
  // A shadow that would have denied the call took nothing, and would not have let it use anything.
  if (result.shadow?.ok === false) return;
  return taken.inTurn(environment.scope, () => settleTo(context, taken, actual));
}

async function settleTo(context: Context, taken: Taken, actual: number): Promise<void> {
  const { scope } = context.environment;
  const difference = actual - taken.countIn(scope);
  if (difference < 0) await refundResult(context, taken, -difference);
  if (difference <= 0) return;
  const charged = await chargeLimit(context, taken.limit, difference);
  if (charged.ok) taken.charge(difference, charged, scope);
}

function unsettleable(result: RateLimitResult): RateLimitInputError {
  const message =
    result && !result.ok
      ? "a denied call took no tokens, so there is nothing to settle: use charge() for what was used"
      : "settle() needs the result of a call that took tokens, the one that limit, acquire or a " +
        "granted limitAll returned, and not a copy: for a copy, use refund() or charge() with the " +
        "difference";
  return new RateLimitInputError("result", message);
}
