/** `settle` and `release` by an id: end a hold from whatever process. */
import { describe, RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { validateCount } from "../../../core/count.js";
import { rowKey } from "../../store/store.js";
import type { Context } from "../context.js";
import { type Claim, ClaimDecision } from "../draft.js";
import { namesOf, rejectUnknownOptions } from "../known-options.js";
import { reportEnd } from "./report-end.js";
import { endingOf, isMissing, type Usage, warnOf } from "../reported-use.js";
import { beneathAnswer } from "../overrides/overridden-answer.js";
import { type EndedHold, endHold, type Ending, type HeldLimit, rowsToEnd } from "./end-hold.js";
import {
  type HoldOptions,
  type NotHeld,
  type ReleaseResult,
  type SettledHold,
  unheld,
} from "./hold-options.js";

const HOLD_OPTIONS = namesOf<HoldOptions>({ key: true, config: true, once: true });

/**
 * @param names one limit, or those of a call of `limitFirst`, in their order.
 * @param actual of all of them together. Where it is missing or NaN, as a provider may report it, the
 * hold is settled as it was estimated.
 */
export async function settleHold(
  context: Context,
  names: string | readonly string[],
  options: HoldOptions,
  actual: Usage,
): Promise<SettledHold> {
  if (!isMissing(actual)) validateCount(actual);
  const holds = heldLimits(context, names, options, "settle()");
  if (isMissing(actual)) warnOf(context, holds[0]!.limit.name, actual);
  const ended = await endHolds(context, holds, endingOf(actual));
  if (!ended.ok) return { settled: false, reason: ended.reason };
  return { settled: true, count: ended.count, value: ended.value };
}

export async function releaseHold(
  context: Context,
  names: string | readonly string[],
  options: HoldOptions,
): Promise<ReleaseResult> {
  const all: Ending = { kind: "give back", count: Infinity };
  const ended = await endHolds(context, heldLimits(context, names, options, "release()"), all);
  if (!ended.ok) return { released: false, reason: ended.reason };
  return { released: true, count: ended.count, value: ended.value };
}

function heldLimits(
  { resolve, markerFor }: Context,
  names: string | readonly string[],
  options: HoldOptions,
  of: string,
): HeldLimit[] {
  rejectUnknownOptions(options, HOLD_OPTIONS, of);
  const { once, ...bucket } = options;
  if (typeof once !== "string") {
    throw new RateLimitInputError("once", `once must be the id of a hold, got ${describe(once)}`);
  }
  const all = typeof names === "string" ? [names] : names;
  if (all.length === 0) throw new RateLimitConfigError("names", names, "at least one limit");
  return all.map((name) => {
    // A hold can also be ended while an override exempts or blocks its key.
    const limit = beneathAnswer(resolve(name, bucket));
    if (limit.held === undefined) throw unheld(name, once);
    return { limit, marker: markerFor(limit, once) };
  });
}

/** Ends the holds of one id in one decision. */
export async function endHolds(
  context: Context,
  holds: readonly HeldLimit[],
  ending: Ending,
): Promise<EndedHold> {
  const { apply, environment, onChange, endLeases } = context;
  const decision = new ClaimDecision(endClaim(holds, ending), environment.clock);
  const [ended] = (await apply([decision])) as [readonly EndedHold[]];
  if (decision.isChange) {
    for (const { limit } of holds) {
      // What was remembered of the row is older than what came back.
      endLeases(limit.rows[0]);
      onChange(limit.name, limit.key);
    }
  }
  for (const [i, each] of ended.entries()) reportEnd(context, holds[i]!, each);
  return together(ended);
}

/** What was used beyond the estimate is charged to the first. What was not comes back from the last. */
function endClaim(holds: readonly HeldLimit[], ending: Ending): Claim<readonly EndedHold[]> {
  const rows = new Map(holds.flatMap(rowsToEnd).map((row) => [rowKey(row), row]));
  return {
    rows: [...rows.values()],
    attempt(draft, now) {
      if (holds.length === 1) return [endHold(draft, holds[0]!, ending, now)];
      const counts = holds.map((each) => countOf(endHold(draft.fork(), each, NOTHING_BACK, now)));
      const total = counts.reduce((sum, count) => sum + count, 0);
      let back = ending.kind === "settle" ? total - ending.actual : backOf(ending);
      const more = Math.max(0, -back);
      return holds
        .map((each, i) => ({ each, held: counts[i]!, isFirst: i === counts.findIndex(isHeld) }))
        .toReversed()
        .map(({ each, held, isFirst }) => {
          const own = Math.min(held, Math.max(0, back));
          back -= own;
          const actual = held - own + (isFirst ? more : 0);
          return endHold(draft, each, { kind: "settle", actual }, now);
        })
        .toReversed();
    },
  };
}

const NOTHING_BACK: Ending = { kind: "give back", count: 0 };
const isHeld = (count: number): boolean => count > 0;
const backOf = (ending: Ending): number => (ending.kind === "give back" ? ending.count : 0);
const countOf = (ended: EndedHold): number => (ended.ok ? ended.count : 0);

function together(ended: readonly EndedHold[]): EndedHold {
  const found = ended.filter((each) => each.ok);
  const [first] = found;
  if (first === undefined) {
    const reasons = ended.map((each) => (each as { reason: NotHeld }).reason);
    return { ok: false, reason: reasons.find((reason) => reason !== "unknown") ?? "unknown" };
  }
  const sumOf = (of: "count" | "used") => found.reduce((sum, each) => sum + each[of], 0);
  return { ...first, count: sumOf("count"), used: sumOf("used") };
}
