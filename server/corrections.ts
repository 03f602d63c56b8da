/**
 * The methods that correct what calls have taken: `charge`, `settle` and `refund`.
 */
import { chargeFloor } from "../core/charge.js";
import { capacityOf } from "../core/config.js";
import { validateCount } from "../core/count.js";
import type { RateLimitResult } from "../core/decide.js";
import { RateLimitInputError } from "../core/errors.js";
import type { RefundedRateLimit, TakenTokens } from "../core/refund.js";
import { CHARGE_OPTIONS, REFUND_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { ChargeOptions, ChargeResult, RefundOptions } from "./call-options.js";
import type { OperationsOptions, Report } from "./operations-options.js";
import { allRows, type ResolvedLimit } from "./resolve-limit.js";
import { chargeTo, refund } from "./row-decisions.js";
import type { RowId } from "./store/store.js";
import { pickRows } from "./take.js";
import { takenBy, type Taking, takingOf, withCharge, withoutUnused } from "./taking.js";

export function createCorrections(
  { resolve, environment, apply, onChange, onSettle }: OperationsOptions,
  report: Report,
) {
  async function giveTo(
    limit: ResolvedLimit,
    rows: readonly RowId[],
    tokens: number,
    taken?: readonly TakenTokens[],
  ): Promise<Omit<RefundedRateLimit, "next">> {
    const [given] = await apply([refund(limit, rows, tokens, environment, taken)]);
    return given!;
  }

  async function chargeLimit(limit: ResolvedLimit, count: number): Promise<RateLimitResult> {
    const rows = pickRows(limit, environment.random);
    const isAll = rows.length === (limit.config.shards ?? 1);
    let [charged] = await apply([chargeTo(limit, rows, count, environment, isAll)]);
    // A debt is spread over all shards, so that every call meets it.
    charged ??= (await apply([chargeTo(limit, allRows(limit), count, environment, true)]))[0];
    report("charge", { limit, count }, charged!, count > 0);
    return charged!;
  }

  async function settleOne(taking: Taking, actual: number): Promise<void> {
    const { limit, now: before } = taking;
    const difference = actual - before.count;
    if (difference === 0) return;
    onSettle?.(() => (taking.now = before));
    if (difference > 0) {
      validateChargeable(limit, difference);
      const charged = await chargeLimit(limit, difference);
      if (!charged.ok) return;
      const charge = { count: difference, ...takenBy(limit, difference, charged) };
      taking.now = withCharge(before, charge);
      return;
    }
    const { rows, taken } = before;
    const unused = -difference;
    // Where the answer is lost, all may have come back. Nothing must come back twice.
    const all = taken.map(({ count, returned = 0 }) => count - returned);
    taking.now = withoutUnused(before, unused, all);
    const { given, rest } = await giveTo(limit, rows, unused, taken);
    taking.now = withoutUnused(before, unused, given);
    if (rest < unused) onChange(limit.name, limit.key);
  }

  return {
    async charge(name: string, chargeOptions: ChargeOptions = {}): Promise<ChargeResult> {
      rejectUnknownOptions(chargeOptions, CHARGE_OPTIONS, "charge()");
      const { count = 1 } = chargeOptions;
      const limit = resolve(name, chargeOptions);
      validateChargeable(limit, count);
      const { value, retryAfter } = await chargeLimit(limit, count);
      return retryAfter === undefined ? { value } : { value, retryAfter };
    },

    async settle(result: RateLimitResult, actual: number): Promise<void> {
      validateCount(actual);
      const taking = takingOf(result);
      if (taking === undefined || !result.ok) throw unsettleable(result);
      // A shadow that would have denied the call took nothing, and would not have let it use anything.
      if (result.shadow?.ok === false) return;
      // One after the other, or two at the same time could give the same tokens back.
      const settling = taking.settled.then(() => settleOne(taking, actual));
      taking.settled = settling.catch(() => {});
      return settling;
    },

    async refund(name: string, refundOptions: RefundOptions = {}): Promise<{ value: number }> {
      rejectUnknownOptions(refundOptions, REFUND_OPTIONS, "refund()");
      const { count = 1, result } = refundOptions;
      const limit = resolve(name, refundOptions);
      validateCount(count);
      validateResult(result);
      let given: Omit<RefundedRateLimit, "next">;
      if (result?.ok && !result.storeFailed && result.shadow?.ok !== false) {
        const { rows, taken } = takenBy(limit, count, result);
        given = await giveTo(limit, rows, count, taken);
      } else {
        const tokens = result === undefined ? count : 0; // A denied call took nothing.
        given = await giveTo(limit, pickRows(limit, environment.random), tokens);
        // These two shards are full, so the tokens were taken from others.
        if (given.rest > 0 && (limit.config.shards ?? 1) > 2) {
          given = await giveTo(limit, allRows(limit), given.rest);
        }
      }
      onChange(limit.name, limit.key);
      return { value: given.value };
    },
  };
}

/** In plain JavaScript it can be anything, such as a result that was sent as JSON in part. */
function validateResult(result: RateLimitResult | undefined): void {
  if (result === undefined) return;
  const { ok, value, ts }: { ok?: unknown; value?: unknown; ts?: unknown } = result ?? {};
  if (ok === false) return;
  if (ok === true && Number.isFinite(ts) && Number.isFinite(value)) return;
  throw new RateLimitInputError("result", "result must be what limit or acquire returned");
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

function validateChargeable({ name, part, config }: ResolvedLimit, count: number): void {
  validateCount(count);
  if (capacityOf(part) - count / (config.shards ?? 1) >= chargeFloor(part)) return;
  const message = `a charge of ${count} to "${name}" would take more than 71,000 years to refill`;
  throw new RateLimitInputError("unsatisfiable", message);
}
