/**
 * Before a call is denied, the lapsed holds of its limit end in its own decision, the oldest first. A
 * call that passes never looks for them: its rows are those of a limit without holds. A denied one
 * reads the row that adds up the holds, and only if one of them may have lapsed, it lists them.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { isLapsed, lapsingAt } from "../../../core/rows/hold.js";
import type { RowId } from "../../store/store.js";
import type { Context } from "../context.js";
import { type Claim, ClaimDecision, type Draft } from "../draft.js";
import { type EndedHold, endHold, type HeldLimit, LAPSE, rowsToEnd } from "./end-hold.js";
import type { DueLimit } from "./due-limit.js";
import { reportEnd } from "./report-end.js";
import { findHolds, type FoundHold } from "./find-holds.js";
import type { ResolvedLimit } from "../resolve-limit.js";

/** The most holds that one decision ends. */
const MOST_AT_ONCE = 200;
/** How often a call decides again. Others may hold tokens meanwhile, and more may have lapsed. */
const MOST_ROUNDS = 10;

/** The lapsed holds of a limit that a decision ends first. */
interface Lapsed extends DueLimit {
  readonly holds: readonly HeldLimit[];
  /** When the first of the other holds lapses, epoch ms. `undefined` where some were not found. */
  readonly next: number | undefined;
  /** The other holds, by when they lapse. */
  readonly others: readonly FoundHold[];
  /** Whether no hold came or went since they were listed, as the last attempt has found. */
  isSame: boolean;
}

/** A claim that says of a denial for which of its limits holds may have lapsed. */
export class ReclaimingClaim<TAnswer> implements Claim<TAnswer> {
  readonly rows: readonly RowId[];
  readonly isShadow: boolean | undefined;
  due: readonly DueLimit[] = [];
  /** What the last attempt has ended. */
  ended: (readonly [HeldLimit, EndedHold])[] = [];

  /** @param lapsed what ends before the claim is asked. */
  constructor(
    readonly claim: Claim<TAnswer>,
    readonly limits: readonly ResolvedLimit[],
    private readonly isDenied: (answer: TAnswer) => boolean,
    private readonly lapsed: readonly Lapsed[] = [],
  ) {
    const held = limits.flatMap(({ held: rows }) => rows ?? []);
    this.rows = [
      ...claim.rows,
      ...held,
      ...lapsed.flatMap(({ holds }) => holds.flatMap(rowsToEnd)),
    ];
    this.isShadow = claim.isShadow;
  }

  attempt(draft: Draft, now: number): TAnswer {
    this.ended = this.lapsed.flatMap((each) => endAll(draft, each, now));
    const answer = this.claim.attempt(draft, now);
    this.due = this.isDenied(answer) ? dueAmong(this.limits, draft, now) : [];
    return answer;
  }

  /** The same claim, which first ends these holds. */
  ending(lapsed: readonly Lapsed[]): ReclaimingClaim<TAnswer> {
    return new ReclaimingClaim(this.claim, this.limits, this.isDenied, lapsed);
  }
}

/** A claim on one limit, which says of a denial whether holds of the limit may have lapsed. */
export function reclaimable(
  claim: Claim<RateLimitResult>,
  limit: ResolvedLimit,
): Claim<RateLimitResult> {
  return limit.held === undefined ? claim : new ReclaimingClaim(claim, [limit], ({ ok }) => !ok);
}

/** The limits among these of which a hold may have lapsed. */
export function dueAmong(
  limits: readonly ResolvedLimit[],
  draft: Pick<Draft, "peek">,
  now: number,
): DueLimit[] {
  return limits.flatMap((limit) => {
    const sum = limit.held && draft.peek(limit.held[1]);
    return isLapsed(sum, now) ? [{ limit, sum }] : [];
  });
}

/** Decides on a claim. Where it would be denied, lapsed holds end first. */
export async function decideReclaiming<TAnswer>(
  context: Context,
  claim: Claim<TAnswer>,
  limits: readonly ResolvedLimit[],
  isDenied: (answer: TAnswer) => boolean,
): Promise<{ answer: TAnswer; decision: ClaimDecision<TAnswer> }> {
  const { apply, environment } = context;
  const reclaiming = new ReclaimingClaim(claim, limits, isDenied);
  const decision = new ClaimDecision<TAnswer>(reclaiming, environment.clock);
  const [answer] = (await apply([decision])) as [TAnswer];
  const { due } = reclaiming;
  if (due.length === 0) return { answer, decision };
  const again = await decideAgain(context, reclaiming, due);
  // A call that is denied reports no change, though tokens may have come back.
  if (again.decision.isChange) for (const { limit } of due) context.onChange(limit.name, limit.key);
  return again;
}

/**
 * Decides again on a claim that was denied. A claim that only asks ends nothing, so it asks once.
 *
 * @param due what the denial has said.
 */
export async function decideAgain<TAnswer>(
  context: Context,
  claim: ReclaimingClaim<TAnswer>,
  due: readonly DueLimit[],
  readOnly: boolean = false,
): Promise<{ answer: TAnswer; decision: ClaimDecision<TAnswer> }> {
  const { apply, environment, timeout } = context;
  const until = performance.now() + timeout;
  let last: readonly Lapsed[] = [];
  for (let round = 1; ; round++) {
    const found = await Promise.all(due.map((each) => list(context, each, last)));
    const lapsed = due.map((each, i) => lapsedAmong(context, each, found[i]!));
    const ending = claim.ending(lapsed);
    const decision = new ClaimDecision<TAnswer>(ending, environment.clock, readOnly);
    const [answer] = (await apply([decision])) as [TAnswer];
    if (decision.isChange) {
      // What was remembered of the rows is older than what came back.
      for (const { limit } of due) context.endLeases(limit.rows[0]);
    }
    if (!readOnly) for (const each of ending.ended) reportEnd(context, ...each);
    ({ due } = ending);
    last = lapsed;
    const isLate = round === MOST_ROUNDS || performance.now() >= until;
    const isDone = due.length === 0 || readOnly || isLate;
    if (isDone || lapsed.every(findsNone)) return { answer, decision };
  }
}

/** Another round would find none either. */
const findsNone = ({ holds, next }: Lapsed): boolean => holds.length === 0 && next === undefined;

/**
 * By when they lapse. What the decision before has left of its list, if the list is still all that there
 * is.
 */
async function list(
  context: Context,
  { limit }: DueLimit,
  last: readonly Lapsed[],
): Promise<readonly FoundHold[]> {
  const before = last.find((each) => each.limit === limit);
  return before?.isSame ? before.others : findHolds(context, limit);
}

function lapsedAmong(
  { environment }: Context,
  { limit, sum }: DueLimit,
  found: readonly FoundHold[],
): Lapsed {
  const now = environment.clock();
  const isLapsedNow = ({ hold }: FoundHold) => hold.until <= now;
  const count = found.slice(0, MOST_AT_ONCE).findLastIndex(isLapsedNow) + 1;
  const holds = found.slice(0, count).map(({ marker }) => ({ limit, marker }));
  const others = found.slice(count);
  // In a transaction of MySQL, those may be missing that came after its snapshot.
  const next = areAll(found, sum) ? (others[0]?.hold.until ?? Infinity) : undefined;
  return { limit, sum, holds, next, others, isSame: false };
}

/** Whether holds add up to their sum, but for what rounding has left of it. */
function areAll(found: readonly FoundHold[], { value }: RateLimitState): boolean {
  const total = found.reduce((count, { hold }) => count + hold.count, 0);
  return Math.abs(total - value) <= 1e-9 * Math.max(1, total);
}

function endAll(draft: Draft, lapsed: Lapsed, now: number): (readonly [HeldLimit, EndedHold])[] {
  const { limit, sum: then, holds, next } = lapsed;
  const row = limit.held![1];
  const sum = draft.read(row);
  const ended = holds.map((each) => [each, endHold(draft, each, LAPSE, now)] as const);
  const rest = draft.peek(row);
  // Where other holds came or went meanwhile, the next one to lapse is not known.
  lapsed.isSame = sum?.value === then.value && sum.ts === then.ts;
  if (next === undefined || !lapsed.isSame || rest === null) return ended;
  // Nothing is left of the sum of no holds but what rounding has left of it.
  draft.write(row, next === Infinity ? null : lapsingAt(rest, next));
  return ended;
}
