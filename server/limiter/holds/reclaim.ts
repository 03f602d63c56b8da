/**
 * Before a call is denied, the lapsed holds of its limits end. A call that passes never looks for them:
 * its rows are those of a limit without holds. A denied call reads the row that adds up the holds, and
 * looks for holds only if a hold may have lapsed, or lapses before the bucket refills.
 */
import type { Row } from "../../../core/rows/row.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { isLapsed } from "../../../core/rows/hold.js";
import type { RowId } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { type Claim, ClaimDecision, type Draft } from "../claims/draft.js";
import type { HoldingLimit } from "../limits/holding-limit.js";
import { endLapsedHolds } from "./end-lapsed.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import { waitWithLapses } from "./wait-with-lapses.js";

/**
 * How often a call decides again. Other calls may hold tokens meanwhile, and more holds may have lapsed.
 */
const MOST_ROUNDS = 10;

/** A claim that says of a denial which of its limits have open holds. */
export class ReclaimingClaim<TAnswer> implements Claim<TAnswer> {
  readonly rows: readonly RowId[];
  readonly isShadow: boolean | undefined;
  /** After a denial: the limits that have open holds. */
  holding: readonly HoldingLimit[] = [];
  /** After a denial: the states of the claim's rows. */
  left: readonly (Row | null)[] = [];

  constructor(
    readonly claim: Claim<TAnswer>,
    readonly limits: readonly ResolvedLimit[],
    readonly isDenied: (answer: TAnswer) => boolean,
  ) {
    this.rows = [...claim.rows, ...limits.flatMap(({ holdRows }) => holdRows ?? [])];
    this.isShadow = claim.isShadow;
  }

  attempt(draft: Draft, now: number): TAnswer {
    const answer = this.claim.attempt(draft, now);
    this.holding = this.isDenied(answer) ? holdingAmong(this.limits, draft) : [];
    if (this.holding.length > 0) this.left = this.claim.rows.map((row) => draft.peek(row));
    return answer;
  }
}

/** A claim on one limit, which says of a denial whether the limit has open holds. */
export function reclaimable(
  claim: Claim<RateLimitResult>,
  limit: ResolvedLimit,
): Claim<RateLimitResult> {
  return limit.holdRows === undefined
    ? claim
    : new ReclaimingClaim(claim, [limit], ({ ok }) => !ok);
}

/** The limits among these that have open holds. */
export function holdingAmong(
  limits: readonly ResolvedLimit[],
  draft: Pick<Draft, "peek">,
): HoldingLimit[] {
  return limits.flatMap((limit) => {
    // The answer of an override does not depend on holds.
    const sum = limit.holdRows && limit.answer === undefined ? draft.peek(limit.holdRows[1]) : null;
    return sum ? [{ limit, sum }] : [];
  });
}

/** Decides on a claim. Lapsed holds end before the claim is denied. */
export async function decideReclaiming<TAnswer extends object>(
  context: Context,
  claim: Claim<TAnswer>,
  limits: readonly ResolvedLimit[],
  isDenied: (answer: TAnswer) => boolean,
  waitOf: (answer: TAnswer) => Waiting = itself,
): Promise<{ answer: TAnswer; decision: ClaimDecision<TAnswer> }> {
  const { apply, environment } = context;
  const reclaiming = new ReclaimingClaim(claim, limits, isDenied);
  const decision = new ClaimDecision<TAnswer>(reclaiming, environment.clock);
  const [answer] = (await apply([decision])) as [TAnswer];
  if (reclaiming.holding.length === 0) return { answer, decision };
  return decideAgain(context, reclaiming, { answer, decision }, waitOf);
}

/** The part of a denial that says how long to wait. */
interface Waiting {
  readonly ok: boolean;
  retryAfter?: number;
}

const itself = (answer: object): Waiting => answer as Waiting;

interface Decided<TAnswer> {
  readonly answer: TAnswer;
  readonly decision: Pick<ClaimDecision<TAnswer>, "now" | "isChange"> & {
    readonly readOnly?: boolean;
  };
}

/**
 * Decides again on a claim that was denied, after its lapsed holds have ended. If the claim is still
 * denied, it waits no longer than until enough other holds have lapsed.
 *
 * @param claim the claim that was denied.
 */
export async function decideAgain<TAnswer extends object>(
  context: Context,
  claim: ReclaimingClaim<TAnswer>,
  denied: Decided<TAnswer>,
  waitOf: (answer: TAnswer) => Waiting,
): Promise<{ answer: TAnswer; decision: ClaimDecision<TAnswer> }> {
  const { apply, environment, timeout } = context;
  const until = performance.now() + timeout;
  let { answer, decision } = denied;
  for (let round = 0; round < MOST_ROUNDS && performance.now() < until; round++) {
    const due = claim.holding.filter(({ sum }) => isLapsed(sum, decision.now));
    if (due.length === 0) break;
    const ended = await Promise.all(due.map((each) => endLapsedHolds(context, each)));
    if (!ended.some(Boolean)) break;
    const again = new ClaimDecision<TAnswer>(claim, environment.clock, denied.decision.readOnly);
    [answer] = (await apply([again])) as [TAnswer];
    decision = again;
  }
  const waiting = waitOf(answer);
  if (claim.holding.length > 0 && !waiting.ok) {
    const wait = (of: TAnswer) => waitOf(of).retryAfter!;
    waiting.retryAfter = await waitWithLapses(context, claim, decision.now, wait(answer), wait);
  }
  return { answer, decision: decision as ClaimDecision<TAnswer> };
}
