/** `settle` and `release` by an id: end all holds that a call has made, from any process. */
import { describe, RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { validateCount } from "../../../core/count.js";
import { holdOf } from "../../../core/rows/hold.js";
import { isForgotten } from "../../../core/rows/marker.js";
import { rowKey } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { type Claim, ClaimDecision, type Draft } from "../claims/draft.js";
import type { PlanOptions } from "../types/call.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import type { Marker } from "../claims/markers.js";
import { reportEnd } from "./report-end.js";
import { endingOf, isMissing, type Usage, type UsageByName, warnOf } from "./reported-use.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import {
  type EndedHold,
  endHold,
  type Ending,
  type HeldLimit,
  rowsToEnd,
} from "../claims/end-hold.js";
import type {
  HeldBucket,
  HoldOptions,
  NotHeld,
  ReleaseResult,
  SettledHold,
} from "../types/settle.js";
import { unheld } from "../types/hold-terms.js";
import { tryAgain } from "./try-again.js";

const HOLD_OPTIONS = namesOf<HoldOptions & PlanOptions>({
  key: true,
  plan: true,
  config: true,
  once: true,
});
const BUCKET = namesOf<HeldBucket & PlanOptions>({
  name: true,
  key: true,
  plan: true,
  config: true,
});

/** The limits of a hold: one limit, or all limits that the call took tokens from, in their order. */
export type HeldNames = string | readonly (string | (HeldBucket & PlanOptions))[];

/**
 * @param actual of `limitFirst`, of all limits together; of `limitAll`, of each limit, or counts by the
 * names of the limits. Where a count is missing or NaN, as a provider may report it, the hold is settled
 * as it was estimated.
 */
export async function settleHold(
  context: Context,
  names: HeldNames,
  options: HoldOptions,
  actual: Usage | UsageByName,
): Promise<SettledHold> {
  const holds = heldLimits(context, names, options, "settle()");
  const counts = countsOf(holds, actual);
  for (const [i, count] of counts.entries()) {
    if (!isMissing(count)) validateCount(count);
    else warnOf(context, holds[i]!.limit.name, count);
  }
  const ended = await endAll(context, holds, counts.map(endingOf), hasNames(actual));
  if (!ended.ok) return { settled: false, reason: ended.reason };
  return { settled: true, count: ended.count, value: ended.value };
}

export async function releaseHold(
  context: Context,
  names: HeldNames,
  options: HoldOptions,
): Promise<ReleaseResult> {
  const holds = heldLimits(context, names, options, "release()");
  const ended = await endAll(context, holds, holds.map(allBack), false);
  if (!ended.ok) return { released: false, reason: ended.reason };
  return { released: true, count: ended.count, value: ended.value };
}

const allBack = (): Ending => ({ kind: "give back", count: Infinity });

function heldLimits(
  { resolve, plans, markerFor }: Context,
  names: HeldNames,
  options: HoldOptions & PlanOptions,
  of: string,
): HeldLimit[] {
  rejectUnknownOptions(options, HOLD_OPTIONS, of);
  const { once, ...bucket } = options;
  if (typeof once !== "string") {
    throw new RateLimitInputError("once", `once must be the id of a hold, got ${describe(once)}`);
  }
  const all = typeof names === "string" ? [names] : names;
  if (all.length === 0) throw new RateLimitConfigError("names", names, "at least one limit");
  const holds = all.map((item): HeldLimit => {
    const { name, ...own } = typeof item === "string" ? { name: item } : item;
    if (typeof item !== "string") rejectUnknownOptions(item, BUCKET, `a name of ${of}`);
    // A hold can also be ended while an override exempts or blocks its key. Limits without plans, such as
    // credits, do not get the plan of the other limits.
    const plan = own.plan ?? (plans.has(name) ? bucket.plan : undefined);
    const limit = beneathAnswer(resolve(name, { ...bucket, ...own, plan }, false));
    if (limit.holdRows === undefined) throw unheld(name, once);
    return { limit, marker: markerFor(limit, once) };
  });
  // A call that takes twice from a bucket has one hold there.
  const byRow = new Map(holds.map((each) => [rowKey(each.marker.hold!), each]));
  return [...byRow.values()];
}

function hasNames(actual: Usage | UsageByName): actual is UsageByName {
  return typeof actual === "object" && actual !== null;
}

/** The count by which each hold is settled. */
function countsOf(holds: readonly HeldLimit[], actual: Usage | UsageByName): readonly Usage[] {
  if (!hasNames(actual)) return holds.map(() => actual);
  const names = holds.map(({ limit }) => limit.name);
  const other = Object.keys(actual).find((name) => !names.includes(name));
  if (other === undefined) return names.map((name) => actual[name]);
  const message = `settle() got a count of ${describe(other)}, which is none of the names before it`;
  throw new RateLimitInputError("name", message);
}

/** Ends the holds that a call has made, by names that a caller gives: all of the holds, or none. */
async function endAll(
  context: Context,
  holds: readonly HeldLimit[],
  endings: readonly Ending[],
  isByName: boolean,
): Promise<EndedHold> {
  const claim = endClaim(holds, endings);
  let problem: string | undefined;
  const checked: typeof claim = {
    rows: claim.rows,
    attempt(draft, now) {
      problem = problemOf(draft, holds, isByName, now);
      return problem === undefined ? claim.attempt(draft, now) : [];
    },
  };
  const ended = await end(context, holds, checked);
  if (problem !== undefined) throw new RateLimitInputError("name", problem);
  return together(ended);
}

/**
 * Ends the holds of a result in one decision. Of a call with several results, these may be some of its
 * holds only.
 */
export async function endHolds(
  context: Context,
  holds: readonly HeldLimit[],
  ending: Ending,
): Promise<EndedHold> {
  const endings = holds.map(() => ending);
  return together(await endHoldsBy(context, holds, endings));
}

/** Ends the holds of several results in one decision, each by its own ending. */
export function endHoldsBy(
  context: Context,
  holds: readonly HeldLimit[],
  endings: readonly Ending[],
): Promise<readonly EndedHold[]> {
  return end(context, holds, endClaim(holds, endings));
}

async function end(
  context: Context,
  holds: readonly HeldLimit[],
  claim: Claim<readonly EndedHold[]>,
): Promise<readonly EndedHold[]> {
  const { apply, environment, onChange, endLeases } = context;
  const decision = new ClaimDecision(claim, environment.clock);
  const [ended] = (await tryAgain(context, () => apply([decision]))) as [readonly EndedHold[]];
  if (decision.isChange) {
    for (const { limit } of holds) {
      // The lease remembers the row as it was before the tokens came back.
      endLeases(limit.rows[0]);
      onChange(limit.name, limit.key);
    }
  }
  for (const [i, each] of ended.entries()) reportEnd(context, holds[i]!, each);
  return ended;
}

/**
 * Why the holds of an id cannot be ended by these names; `undefined` if they can. To end only some of the
 * holds would leave the others to lapse. To settle a share by the whole use would charge that use twice.
 */
function problemOf(
  draft: Draft,
  holds: readonly HeldLimit[],
  isByName: boolean,
  now: number,
): string | undefined {
  const open = holds.flatMap(({ marker }) => {
    const state = draft.read(marker.hold!);
    return state === null ? [] : [holdOf(state)];
  });
  const made = Math.max(0, ...open.map((hold) => hold.made));
  const named = holds.filter(({ marker }) => isKnown(draft, marker, now)).length;
  if (named < made) {
    return (
      `the hold of this id is of ${made} limits, and only ${named} of them ` +
      `${named === 1 ? "was" : "were"} named: name all of them, each with its key where they differ, ` +
      "such as [{ name, key }, { name, key: other }]"
    );
  }
  if (!isByName || !open.some(({ isShare }) => isShare)) return undefined;
  return "the limits of limitFirst pay for one count together, so settle() needs it whole: give it as a number";
}

/** Whether a call has taken tokens under the id, held or not. */
function isKnown(draft: Draft, marker: Marker, now: number): boolean {
  if (draft.read(marker.hold!) !== null) return true;
  const mark = draft.read(marker.row);
  return mark !== null && !isForgotten(mark, marker.onceFor, now);
}

/**
 * Each hold is ended by its own ending. Shares of one count have one ending: tokens that were used beyond
 * the estimate are charged to the first share, and unused tokens come back from the last share.
 */
function endClaim(
  holds: readonly HeldLimit[],
  endings: readonly Ending[],
): Claim<readonly EndedHold[]> {
  const rows = new Map(holds.flatMap(rowsToEnd).map((row) => [rowKey(row), row]));
  return {
    rows: [...rows.values()],
    attempt(draft, now) {
      const found = holds.map((each) => endHold(draft.fork(), each, NOTHING_BACK, now));
      const shares = found.map((each) => (each.ok && each.isShare ? each.count : 0));
      const total = shares.reduce((sum, count) => sum + count, 0);
      const ending = endings[shares.findIndex(isHeld)];
      let back = ending?.kind === "settle" ? total - ending.actual : backOf(ending);
      const more = Math.max(0, -back);
      return holds
        .map((each, i) => ({ each, i, share: shares[i]! }))
        .toReversed()
        .map(({ each, i, share }) => {
          if (share === 0) return endHold(draft, each, endings[i]!, now);
          const own = Math.min(share, Math.max(0, back));
          back -= own;
          const actual = share - own + (i === shares.findIndex(isHeld) ? more : 0);
          return endHold(draft, each, { kind: "settle", actual }, now);
        })
        .toReversed();
    },
  };
}

const NOTHING_BACK: Ending = { kind: "give back", count: 0 };
const isHeld = (count: number): boolean => count > 0;
const backOf = (ending?: Ending): number => (ending?.kind === "give back" ? ending.count : 0);

function together(ended: readonly EndedHold[]): EndedHold {
  const found = ended.filter((each) => each.ok);
  const [first] = found;
  if (first === undefined) {
    const reasons = ended.map((each) => (each as { reason: NotHeld }).reason);
    return { ok: false, reason: reasons.find((reason) => reason !== "unknown") ?? "unknown" };
  }
  if (!first.isShare) return first;
  const sumOf = (of: "count" | "used") =>
    found.reduce((sum, each) => sum + (each.isShare ? each[of] : 0), 0);
  return { ...first, count: sumOf("count"), used: sumOf("used") };
}
