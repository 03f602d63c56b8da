/**
 * Several limits that pay for a call: the first limit that has all of the tokens, or each limit the
 * tokens that it has. No bucket is closed (`blockFor`), because the call may pass by another limit.
 */
import { shortestWait } from "../../../core/calculate.js";
import { longestPeriod, MAX_RETRY_AFTER } from "../../../core/config.js";
import { isSatisfiable } from "../../../core/count.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { type Purse, sharesOf } from "../../../core/shares.js";
import type { RowId } from "../../store/store.js";
import type { Claim, Draft } from "./draft.js";
import type { LimitRequest } from "../limits/limit-request.js";
import { purseOf } from "./purse.js";
import { TokenClaim } from "./token-claim.js";

export interface FirstOfAnswer {
  ok: boolean;
  /** The requests that were asked, in order; of a denied call, all of them. */
  asked: readonly Asked[];
  /** Whole ms until the call would pass; 0 where it passed. */
  retryAfter: number;
  /** The id of the call was charged before: this call took nothing. */
  repeated?: true;
}

export interface Asked {
  result: RateLimitResult;
  /** Tokens that the limit gave; `undefined` for a limit that does not pay. */
  paid?: number | undefined;
}

/** The first limit that has all of the tokens pays them. */
export function firstOf(payers: readonly Payer[]): Claim<FirstOfAnswer> {
  return {
    rows: payers.flatMap(({ rows }) => rows),
    attempt(draft, now) {
      const asked: Asked[] = [];
      for (const payer of payers) {
        const { count } = payer.request;
        const result = payer.pay(draft, now, count);
        asked.push(result.ok ? { result, paid: count } : { result });
        if (result.ok) return { ok: true, asked, retryAfter: 0 };
      }
      const waits = asked.map(({ result: { retryAfter = 0 } }) => retryAfter);
      return { ok: false, asked, retryAfter: Math.min(...waits) };
    },
  };
}

/** Each limit pays the tokens that it has, in order, until the call has its tokens. */
export function eachOf(payers: readonly Payer[], count: number): Claim<FirstOfAnswer> {
  return {
    rows: payers.flatMap(({ rows }) => rows),
    attempt(draft, now) {
      const shares = sharesAt(payers, draft, now, count);
      if (shares === undefined) {
        const asked = payers.map((payer) => ({ result: payer.refuse(draft, now, count) }));
        return { ok: false, asked, retryAfter: waitTogether(payers, draft, now, count) };
      }
      const last = shares.findLastIndex((share) => share > 0);
      let rest = count;
      const asked = payers.slice(0, last + 1).map((payer, i): Asked => {
        const paid = shares[i]!;
        // A later limit pays only because this limit has no more tokens, on any of its shards.
        if (i < last) payer.guard(draft);
        if (paid === 0) return { result: payer.refuse(draft, now, rest) };
        rest -= paid;
        return { result: payer.pay(draft, now, paid), paid };
      });
      return { ok: true, asked, retryAfter: 0 };
    },
  };
}

function sharesAt(payers: readonly Payer[], draft: Draft, now: number, count: number) {
  const purses = payers.map((payer) => payer.purse(draft, now));
  return sharesOf(purses, count);
}

/** Whole ms until the limits have the tokens together. */
function waitTogether(payers: readonly Payer[], draft: Draft, now: number, count: number): number {
  const held = payers.map((payer) => Math.max(0, payer.purse(draft, now).value));
  const missing = held.reduce((rest, value) => rest - value, count);
  const perMs = payers.reduce((sum, { request: { limit } }) => {
    return sum + limit.part.rate / longestPeriod(limit.part);
  }, 0);
  const passes = (wait: number) => sharesAt(payers, draft, now + wait, count) !== undefined;
  return shortestWait(Math.ceil(Math.max(1, missing) / perMs), passes);
}

/** A limit that may pay. */
export class Payer {
  constructor(
    readonly request: LimitRequest,
    readonly rows: readonly RowId[],
  ) {}

  /**
   * The answer of this limit alone to a call for `count` tokens. The rows of a limit that denies are
   * guarded, because the next limit pays only if this limit has too few tokens.
   */
  pay(draft: Draft, now: number, count: number): RateLimitResult {
    const { request, rows } = this;
    const result = new TokenClaim({ ...request, count }, rows, false).attempt(draft, now);
    if (result.ok || isSatisfiable(request.limit.config, count, false)) return result;
    return { ...result, retryAfter: MAX_RETRY_AFTER };
  }

  /** Guards all rows of the limit, because the answer depends on all of them. */
  guard(draft: Draft): void {
    for (const row of this.rows) draft.read(row);
  }

  /** The answer of a limit that gives no tokens. */
  refuse(draft: Draft, now: number, count: number): RateLimitResult {
    this.guard(draft);
    const result = this.pay(draft.fork(), now, count);
    const { value, retryAfter = 1 } = result;
    return result.ok ? { ok: false, retryAfter, value } : result;
  }

  /** The tokens that the rows can give. */
  purse(draft: Draft, now: number): Purse {
    const { part, answer } = this.request.limit;
    // An exempt caller has the tokens of every call. A blocked caller has none until the override ends.
    if (answer !== undefined) {
      const { ok } = this.pay(draft.fork(), now, 1);
      return { value: ok ? Number.MAX_VALUE : 0, tolerance: 0 };
    }
    return purseOf(this.rows, part, draft, now);
  }
}
