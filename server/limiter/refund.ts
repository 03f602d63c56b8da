/** `refund`: gives back tokens of a call, as many as nothing else has replaced meanwhile. */
import { heldAt, type RateLimitState, refillBetween } from "../../core/calculate.js";
import { capacityOf, type PeriodicConfig } from "../../core/config.js";
import { countOf } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import { RateLimitInputError } from "../../core/errors.js";
import {
  refundTaken,
  type RefundedRateLimit,
  refundRateLimit,
  type TakenTokens,
} from "../../core/refund.js";
import { beneathAnswer } from "./overrides/overridden-answer.js";
import type { RowId } from "../store/store.js";
import type { RefundOptions } from "./call-options.js";
import { allRows, chooseRows } from "./choose-shards.js";
import type { Context } from "./context.js";
import { type Claim, ClaimDecision } from "./draft.js";
import { REFUND_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import type { RefundClaim } from "./taken-part.js";
import { forgettingMarker } from "./once.js";
import { ownTakenOf, type Taken, takenBy } from "./taken.js";

type Refunded = Omit<RefundedRateLimit, "next">;

export async function refund(
  context: Context,
  name: string,
  options: RefundOptions = {},
): Promise<{ value: number }> {
  rejectUnknownOptions(options, REFUND_OPTIONS, "refund()");
  const { resolve, environment, onChange } = context;
  const { result } = options;
  const count = countOf(options);
  const limit = beneathAnswer(resolve(name, options));
  validateResult(result);
  const taken = result && ownTakenOf(result, environment);
  if (taken !== undefined) {
    validateSame(taken, limit);
    const { scope } = environment;
    return { value: await taken.inTurn(scope, () => refundResult(context, taken, count)) };
  }
  const { value } = await (isGranted(result)
    ? refundCopy(context, limit, count, result)
    : // A denied call took nothing, nor did one whose id was charged before.
      refundGift(context, limit, result === undefined ? count : 0));
  onChange(limit.name, limit.key);
  return { value };
}

/** Gives back up to `count` tokens of a call. Resolves with what its rows then hold. */
export async function refundResult(context: Context, taken: Taken, count: number): Promise<number> {
  const { apply, environment, onChange } = context;
  const { limit } = taken;
  const claims = taken.claim(count, environment.scope);
  if (claims.length === 0) return (await refundTo(context, limit, taken.rows, 0)).value;
  // A transaction that is rolled back could not take them out of the block again.
  const returned = environment.scope === undefined ? claims.filter(returnToBlock) : [];
  const others = claims.filter((claim) => !returned.includes(claim));
  if (others.length === 0) {
    const { row, remaining } = returned.at(-1)!.block!;
    return row.value + remaining;
  }
  const refunds = others.map(({ rows, count: tokens, taken: from }) =>
    refundRows(limit, rows, tokens, from),
  );
  const { marker } = taken;
  if (marker !== undefined && taken.countIn(environment.scope) === 0) {
    // Its id would let the next call through for nothing.
    refunds.unshift(forgettingMarker(refunds.shift()!, marker.row, marker.ts));
  }
  const { clock } = environment;
  const answers = await apply(refunds.map((claim) => new ClaimDecision(claim, clock)));
  for (const [i, { refunded }] of answers.entries()) others[i]!.answer(refunded);
  if (answers.some(({ refunded }) => refunded.some((tokens) => tokens > 0))) {
    onChange(limit.name, limit.key);
  }
  return answers.at(-1)!.value;
}

/** Gives tokens back to the block that they are from, if it still lives. */
function returnToBlock(claim: RefundClaim): boolean {
  const { block, count } = claim;
  if (block === undefined || !block.isLiving()) return false;
  block.giveBack(count);
  claim.answer([count]);
  return true;
}

/** For a copy of a result, which remembers nothing. */
function refundCopy(
  context: Context,
  limit: ResolvedLimit,
  count: number,
  result: RateLimitResult & { ok: true },
): Promise<Refunded> {
  // The call found no more than the capacity, and left `value`.
  const most = Math.min(count, capacityOf(limit.part) - result.value);
  const { rows, taken } = takenBy(limit, most, result);
  return refundTo(context, limit, rows, count, taken);
}

/** Where no call is known. */
async function refundGift(
  context: Context,
  limit: ResolvedLimit,
  count: number,
): Promise<Refunded> {
  const rows = chooseRows(limit, context.environment.random);
  const refunded = await refundTo(context, limit, rows, count);
  // These two shards are full, so the tokens were taken from others.
  const isMore = refunded.rest > 0 && (limit.config.shards ?? 1) > 2;
  return isMore ? refundTo(context, limit, allRows(limit), refunded.rest) : refunded;
}

async function refundTo(
  { apply, environment }: Context,
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  taken?: readonly TakenTokens[],
): Promise<Refunded> {
  const claim = refundRows(limit, rows, count, taken);
  const [refunded] = await apply([new ClaimDecision(claim, environment.clock)]);
  return refunded!;
}

/**
 * Gives tokens back to rows of a limit. `rest` counts the tokens that were not given back.
 *
 * @param taken what is known of the taking, per row.
 */
function refundRows(
  { part, lease }: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  taken?: readonly TakenTokens[],
): Claim<Refunded> {
  return {
    rows,
    attempt(draft, now) {
      const states = rows.map((row) => draft.read(row));
      const [state] = states as [RateLimitState | null];
      // What a block of another process could not have made the row lose meanwhile.
      const room = lease && taken ? roomBelow(lease.config, state, taken[0]!, now) : Infinity;
      const { next, ...result } =
        taken === undefined
          ? refundRateLimit(states, part, now, count)
          : refundTaken(states, part, now, Math.min(count, room), taken);
      for (const [i, row] of rows.entries()) if (next[i] !== undefined) draft.write(row, next[i]);
      return result;
    },
  };
}

/**
 * The tokens that can have been added to a row since a call took from it, and never have made it
 * hold more than a block leaves of it. A take of a block loses what is above that. So tokens that
 * come back after it could be there a second time.
 */
function roomBelow(
  config: PeriodicConfig,
  row: RateLimitState | null,
  { value, ts, refunded = 0 }: TakenTokens,
  now: number,
): number {
  const refilled = refillBetween(config, ts, heldAt(row, config, now).ts);
  return Math.max(0, capacityOf(config) - value - refilled - refunded);
}

function isGranted(result: RateLimitResult | undefined): result is RateLimitResult & { ok: true } {
  if (result?.ok !== true || result.storeFailed || result.repeated) return false;
  return result.shadow?.ok !== false;
}

/** In plain JavaScript it can be anything, such as a result that was sent as JSON in part. */
function validateResult(result: RateLimitResult | undefined): void {
  if (result === undefined) return;
  const { ok, value, ts }: { ok?: unknown; value?: unknown; ts?: unknown } = result ?? {};
  if (ok === false) return;
  if (ok === true && Number.isFinite(ts) && Number.isFinite(value)) return;
  throw new RateLimitInputError("result", "result must be what limit or acquire returned");
}

/** By the row: two keys are one bucket if `hashKey` returns the same for both. */
function validateSame({ limit }: Taken, { name, rows: [row] }: ResolvedLimit): void {
  if (limit.name === name && limit.rows[0].key === row.key) return;
  const key = limit.name === name ? " with another key" : "";
  throw new RateLimitInputError(
    "result",
    `the result is of "${limit.name}"${key}: pass refund() the name and the key of the call`,
  );
}
