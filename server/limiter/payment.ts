/**
 * Remembers who paid for a call of `limitFirst`, for `settle` and `refund`. As in `taken.ts`, the
 * memory is a private field of the result, which stays a plain object.
 */
import type { RateLimitResult } from "../../core/decide.js";
import { countOf } from "../../core/count.js";
import { RateLimitInputError } from "../../core/errors.js";
import { chargeLimit } from "./charge.js";
import { rejectUnknownOptions } from "./known-options.js";
import type { Context, Environment } from "./context.js";
import type { LimitFirstResult } from "./limit-first-options.js";
import { refundResult } from "./refund.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { ownTakenOf, remember, Result, type Taken } from "./taken.js";

interface Payment {
  /** The first of the limits, whether it paid or not. */
  readonly first: ResolvedLimit;
  /** The results of the limits that paid, in order. */
  readonly payers: readonly RateLimitResult[];
  readonly environment: Environment;
}

class Paid extends Result {
  readonly #payment: Payment;
  /** What `settle` charged beyond the estimate, to the first limit. */
  #extra: Taken | undefined;

  constructor(result: object, payment: Payment) {
    super(result);
    this.#payment = payment;
  }

  static isPaid(result: object): result is Paid {
    return #payment in result;
  }

  /** What came in as payment, the last one first: in this order it goes back. */
  static lastFirst(result: Paid, context: Context): Taken[] {
    const { payers } = result.#payment;
    const taken = payers.map((payer) => ownTakenOf(payer, context.environment)!);
    const all = [...taken, Paid.extraOf(result, context)];
    return all.toReversed();
  }

  static extraOf(result: Paid, { environment }: Context): Taken {
    const { first, environment: of } = result.#payment;
    // As `charge` does: what is charged while an override blocks the limit is charged to its rows.
    const limit = first.answer?.kind === "blocked" ? first.answer.beneath : first;
    if (result.#extra === undefined) {
      const none = { ok: true as const, value: 0, ts: environment.clock() };
      remember(none, { limit, count: 0, environment: of, readOnly: false });
      result.#extra = ownTakenOf(none, environment)!;
    }
    return result.#extra;
  }
}

export function rememberPayment(
  result: LimitFirstResult & { ok: true },
  payment: Payment,
): LimitFirstResult {
  return new Paid(result, payment) as unknown as LimitFirstResult;
}

/** Whether a result is of `limitFirst`, or looks like one. */
export function isPayment(result: unknown): result is LimitFirstResult {
  return Array.isArray(Object(result).paid);
}

/**
 * Makes what was paid for a call what it really used. What was paid last goes back first. More than
 * that is charged to the first limit, into debt, so that no balance of the others is overdrawn.
 * Each limit gets its part by a decision of its own. After a failure of the store, some may have got
 * it and others not; nothing comes back twice.
 *
 * @param actualOf the tokens that were used, of those that are kept.
 * @throws RateLimitInputError for a result that `limitFirst` of this limiter did not return.
 */
export async function settlePayment(
  context: Context,
  result: LimitFirstResult,
  actualOf: (kept: number) => number,
): Promise<void> {
  if (!Paid.isPaid(result)) throw copied();
  const { scope } = context.environment;
  const extra = Paid.extraOf(result, context);
  // Its turn stands for that of the whole payment.
  await extra.inTurn(scope, async () => {
    const all = Paid.lastFirst(result, context);
    const kept = all.reduce((sum, taken) => sum + taken.countIn(scope), 0);
    let rest = kept - actualOf(kept);
    if (rest < 0) {
      const charged = await chargeLimit(context, extra.limit, -rest);
      if (charged.ok) extra.charge(-rest, charged, scope);
      return;
    }
    for (const taken of all) {
      const giveBack = async () => {
        const count = Math.min(rest, taken.countIn(scope));
        if (count <= 0) return;
        rest -= count;
        await refundResult(context, taken, count);
      };
      await (taken === extra ? giveBack() : taken.inTurn(scope, giveBack));
    }
  });
}

/** Gives tokens of a call back, those that were paid last first. Resolves with their number. */
export async function refundPayment(
  context: Context,
  result: LimitFirstResult,
  options: { count?: number } = {},
): Promise<{ value: number }> {
  rejectUnknownOptions(options, PAYMENT_OPTIONS, "refund() of a result of limitFirst()");
  const count = countOf(options);
  let value = 0;
  await settlePayment(context, result, (kept) => {
    value = Math.min(kept, count);
    return kept - value;
  });
  return { value };
}

const PAYMENT_OPTIONS: ReadonlySet<string> = new Set(["count"]);

function copied(): RateLimitInputError {
  return new RateLimitInputError(
    "result",
    "settle() and refund() need the result itself that limitFirst() returned, and not a copy",
  );
}
