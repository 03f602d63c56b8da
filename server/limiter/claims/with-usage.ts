/**
 * Usage that counts in the decision itself, because invoices are made of it: the tokens of credits, of calls
 * with an id, of charges, and tokens that come back. A hold counts its own usage, see `end-hold.ts`. This
 * process sums up the usage of all other calls.
 */
import { isCredits } from "../../../core/rows/credits.js";
import type { Usage } from "../../../core/usage.js";
import { usageRows, usageWrites } from "./counters.js";
import type { Row } from "../../../core/rows/row.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { Outcome, RowId } from "../../store/store.js";
import { type Claim, ClaimDecision, type Draft } from "./draft.js";
import type { FirstOfAnswer } from "./first-of.js";
import type { Marker } from "./markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/**
 * Whether the take of a call counts in its decision. An exempt caller without an id asks no store, so its
 * calls are summed up.
 */
export function countsTake(
  { usage, config, answer }: ResolvedLimit,
  id: string | Marker | undefined,
): boolean {
  if (usage === undefined) return false;
  return id !== undefined || (isCredits(config) && answer === undefined);
}

/**
 * The claim, which also counts its usage. The claim itself for a limit without `usage`.
 *
 * @param now when the claim is made, epoch ms. The usage counts in the span of this instant.
 * @param counts whether an answer has used the tokens.
 */
export function withUsage<TAnswer>(
  claim: Claim<TAnswer>,
  limit: ResolvedLimit,
  now: number,
  usage: Partial<Usage>,
  counts: (answer: TAnswer) => boolean = () => true,
): Claim<TAnswer> {
  if (limit.usage === undefined) return claim;
  return counting(claim, usageRows(limit, now, usage), (draft, answer) => {
    if (counts(answer)) usageWrites(draft, limit, now, usage);
  });
}

/**
 * Counts the take of a call that is granted, if it counts in the decision.
 *
 * @param mayGetOne whether the call may get one token of several, as with `atLeast`.
 */
export function withTake<TAnswer extends { ok: boolean; granted?: number }>(
  claim: Claim<TAnswer>,
  limit: ResolvedLimit,
  count: number,
  now: number,
  mayGetOne: boolean = false,
): Claim<TAnswer> {
  if (limit.usage === undefined) return claim;
  // A call for one token has a counter of its own.
  const counts = mayGetOne ? [1, count] : [count];
  const counters = counts.flatMap((each) => usageRows(limit, now, usageOfTake(each)));
  return counting(claim, counters, (draft, { ok, granted = count }) => {
    if (ok) usageWrites(draft, limit, now, usageOfTake(granted));
  });
}

/**
 * Counts the payments of a call that is granted. A call for one token has another counter than a call for
 * several tokens, and the share of a limit is known only in the decision.
 *
 * @param limits the limits that may pay, in order; `undefined` for one whose payment counts elsewhere.
 */
export function withPayments(
  claim: Claim<FirstOfAnswer>,
  limits: readonly (ResolvedLimit | undefined)[],
  now: number,
): Claim<FirstOfAnswer> {
  if (!limits.some((limit) => limit !== undefined)) return claim;
  const counters = limits.flatMap((limit) =>
    limit === undefined ? [] : [1, 2].flatMap((n) => usageRows(limit, now, usageOfTake(n))),
  );
  return counting(claim, counters, (draft, { ok, asked }) => {
    for (const [i, { result, paid = 0 }] of ok ? asked.entries() : []) {
      const limit = limits[i];
      if (limit !== undefined && result.ok) usageWrites(draft, limit, now, usageOfTake(paid));
    }
  });
}

/** The claim with rows of counters, to which it adds what each answer has used. */
function counting<TAnswer>(
  claim: Claim<TAnswer>,
  counters: readonly RowId[],
  count: (draft: Draft, answer: TAnswer) => void,
): Claim<TAnswer> {
  return {
    rows: [...claim.rows, ...counters],
    isShadow: claim.isShadow,
    attempt(draft, now) {
      const answer = claim.attempt(draft, now);
      count(draft, answer);
      return answer;
    },
  };
}

function usageOfTake(count: number): Partial<Usage> {
  return { granted: 1, taken: count };
}

/** The decision of a call, which tells what a denial has found in its rows. */
export class TakeDecision extends ClaimDecision<RateLimitResult> {
  /** After a denial that has written nothing: the states of the rows. */
  left: readonly (Row | null)[] = [];

  override decide(states: readonly (Row | null)[]): Outcome<RateLimitResult> {
    const outcome = super.decide(states);
    this.left = outcome.result.ok ? [] : states;
    return outcome;
  }
}
