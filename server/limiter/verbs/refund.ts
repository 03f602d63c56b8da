/** `refund`: gives back tokens of a call, except tokens that were replaced meanwhile. */
import { capacityOf } from "../../../core/config.js";
import { countOf } from "../../../core/count.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { RateLimitInputError } from "../../../core/errors.js";
import type { TakenTokens } from "../../../core/refund.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { RowId } from "../../store/store.js";
import type { RefundOptions } from "../types/refund.js";
import { allRows, chooseRows } from "../claims/choose-shards.js";
import type { Context } from "../context/context.js";
import type { Environment } from "../claims/environment.js";
import { ClaimDecision } from "../claims/draft.js";
import { giveBack } from "./give-back.js";
import { type Refunded, refundRows } from "../claims/refund-rows.js";
import { REFUND_OPTIONS } from "../types/refund.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { LimitFirstResult } from "../types/limit-first.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { withUsage } from "../claims/with-usage.js";
import { ownReceiptOf, type Receipt, takenBy } from "../claims/receipt.js";

export async function refund(
  context: Context,
  name: string,
  options: RefundOptions = {},
): Promise<{ value: number }> {
  rejectUnknownOptions(options, REFUND_OPTIONS, "refund()");
  const { resolve, environment, onChange } = context;
  const { result } = options;
  const count = countOf(options);
  const limit = beneathAnswer(resolve(name, options, false));
  validateResult(result);
  const receipt = result && ownReceiptOf(result, environment);
  if (receipt !== undefined) {
    validateSame(receipt, limit);
    return receipt.inTurn(environment.scope, async () => {
      const value = await giveBack(context, receipt, count);
      if (value !== undefined) return { value };
      // Nothing came back, so the rows are only read.
      return { value: (await refundTo(context, receipt.limit, receipt.rows, 0)).value };
    });
  }
  const back = mostOf(result, count);
  const { value } = await (isGranted(result)
    ? refundCopy(context, limit, back, result)
    : refundGift(context, limit, back));
  onChange(limit.name, limit.key);
  if (back > 0) context.usage.add(limit, { givenBack: back }, true);
  return { value };
}

/**
 * Gives tokens of a call of `limitFirst` back. Tokens that were paid last go back first. Resolves with
 * the number of tokens.
 */
export async function refundPayment(
  context: Context,
  result: LimitFirstResult,
  options: { count?: number } = {},
): Promise<{ value: number }> {
  rejectUnknownOptions(options, PAYMENT_OPTIONS, "refund() of a result of limitFirst()");
  const count = countOf(options);
  const receipt = paymentOf(result, context.environment);
  const { scope } = context.environment;
  return receipt.inTurn(scope, async () => {
    const value = Math.min(receipt.countIn(scope), count);
    await giveBack(context, receipt, value);
    return { value };
  });
}

const PAYMENT_OPTIONS: ReadonlySet<string> = new Set(["count"]);

/** Whether a value is a result of `limitFirst`, or looks like such a result. */
export function isPayment(result: unknown): result is LimitFirstResult {
  return Array.isArray(Object(result).paid);
}

/** @throws RateLimitInputError for a result that `limitFirst` of this limiter did not return. */
export function paymentOf(result: LimitFirstResult, environment: Environment): Receipt {
  const receipt = ownReceiptOf(result, environment);
  if (receipt !== undefined) return receipt;
  throw new RateLimitInputError(
    "result",
    "settle() and refund() need the result itself that limitFirst() returned, and not a copy",
  );
}

/** How many tokens may come back: no more than a call with `atLeast` got. */
function mostOf(result: RateLimitResult | undefined, count: number): number {
  if (result === undefined) return count;
  // A denied call took nothing, and neither did a repeated call.
  if (!isGranted(result)) return 0;
  return Math.min(count, result.shadow?.granted ?? result.granted ?? count);
}

/** Gives back by a copy of a result, which remembers nothing. */
function refundCopy(
  context: Context,
  limit: ResolvedLimit,
  count: number,
  result: RateLimitResult & { ok: true },
): Promise<Refunded> {
  // The call found no more than the capacity, and left `value`.
  const room = capacityOf(limit.part) - result.value;
  // A call by a larger config may have left more.
  const most = room < 0 ? count : Math.min(count, room);
  const { rows, taken } = takenBy(limit, most, result);
  return refundTo(context, limit, rows, count, { taken, used: count });
}

/** Gives back tokens where the call that took them is not known. */
async function refundGift(
  context: Context,
  limit: ResolvedLimit,
  count: number,
): Promise<Refunded> {
  const rows = chooseRows(limit, context.environment.random);
  const refunded = await refundTo(context, limit, rows, count, { used: count });
  // These two shards are full, so the tokens were taken from other shards.
  const isMore = refunded.rest > 0 && (limit.config.shards ?? 1) > 2;
  return isMore ? refundTo(context, limit, allRows(limit), refunded.rest) : refunded;
}

/** @param used tokens that count as given back, also where they were replaced meanwhile. */
async function refundTo(
  { apply, environment }: Context,
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { taken, used = 0 }: { taken?: readonly TakenTokens[]; used?: number } = {},
): Promise<Refunded> {
  const claim = refundRows(limit, rows, count, taken);
  const { clock } = environment;
  const counted = withUsage(claim, limit, clock(), { givenBack: used });
  const [refunded] = await apply([new ClaimDecision(counted, clock)]);
  return refunded!;
}

function isGranted(result: RateLimitResult | undefined): result is RateLimitResult & { ok: true } {
  if (result?.ok !== true || result.storeFailed || result.repeated) return false;
  return result.shadow?.ok !== false;
}

/** In plain JavaScript, `result` can be any value, such as a part of a result that was sent as JSON. */
function validateResult(result: RateLimitResult | undefined): void {
  if (result === undefined) return;
  const { ok, value, ts }: { ok?: unknown; value?: unknown; ts?: unknown } = result ?? {};
  if (ok === false) return;
  if (ok === true && Number.isFinite(ts) && Number.isFinite(value)) return;
  throw new RateLimitInputError("result", "result must be what limit or acquire returned");
}

/** By the row: two keys are one bucket if `hashKey` returns the same for the two. */
function validateSame({ limit }: Receipt, { name, rows: [row] }: ResolvedLimit): void {
  if (limit.name === name && limit.rows[0].key === row.key) return;
  const key = limit.name === name ? " with another key" : "";
  throw new RateLimitInputError(
    "result",
    `the result is of "${limit.name}"${key}: pass refund() the name and the key of the call`,
  );
}
