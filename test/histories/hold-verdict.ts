/**
 * Checks a history of holds: there is an order of the calls of each id that explains all answers, so
 * nothing is settled twice, before its time or after it. What the ids have cost together is what the
 * bucket has lost, so nothing comes back twice, and nothing is lost but what `then` says.
 */
import { type BucketEvent, boundsOf, findExcess } from "./lease-bounds.js";
import type { HoldLimit } from "./hold-limits.js";
import {
  type HoldAnswer,
  type HoldCall,
  type IdState,
  lapsed,
  stepsOf,
  UNUSED,
} from "./hold-model.js";

export interface HoldVerdict {
  problems: string[];
  /** Buckets of which it is known to the token what they have to hold. */
  exact: number;
  /** Calls that have ended a hold, and those that came too late. */
  ends: number;
  lapses: number;
  /** Ids with too many calls in flight at a time. */
  undecided: number;
}

/** Of the search for an order of the calls of one id. */
const MOST_STATES = 20_000;

export interface HoldChecks {
  limits: Readonly<Record<string, HoldLimit>>;
  /** How far the time of a decision may be from the clock of the calls, ms. */
  clockError: number;
  /** What each bucket holds after all holds have lapsed, and a call was denied; see `bucketOf`. */
  left: ReadonlyMap<string, number>;
}

export const bucketOf = ({ name, key }: { name: string; key: string }): string => `${name} ${key}`;

export function checkHolds(
  history: readonly HoldCall[],
  { limits, clockError, left }: HoldChecks,
): HoldVerdict {
  const verdict: HoldVerdict = { problems: [], exact: 0, ends: 0, lapses: 0, undecided: 0 };
  for (const [bucket, calls] of groupsOf(history, bucketOf)) {
    const { name } = calls[0]!;
    const limit = limits[name]!;
    let [least, most] = [0, 0];
    for (const [id, own] of groupsOf(calls, (call) => call.id)) {
      const costs = costsOf(own, clockError);
      if (costs === undefined || costs.size === 0) {
        const told = own.map(describe).join("; ");
        if (costs === undefined) verdict.undecided++;
        else verdict.problems.push(`no order of the calls explains ${id} of ${bucket}: ${told}`);
        [least, most] = [-Infinity, Infinity];
        continue;
      }
      least += Math.min(...costs);
      most += Math.max(...costs);
    }
    for (const { answer } of calls) {
      if (answer?.count !== undefined) verdict.ends++;
      if (answer?.reason === "kept" || answer?.reason === "given back") verdict.lapses++;
    }
    if (limit.refills) {
      const excess = findExcess(eventsOf(calls, clockError), boundsOf(limit.bounds), clockError);
      if (excess) verdict.problems.push(`${bucket} granted too much: ${JSON.stringify(excess)}`);
      continue;
    }
    const held = left.get(bucket);
    if (held === undefined) continue;
    if (least === most) verdict.exact++;
    const lost = limit.capacity - held;
    if (lost >= least && lost <= most) continue;
    verdict.problems.push(`${bucket} has lost ${lost} tokens, and not ${least} to ${most}`);
  }
  return verdict;
}

/**
 * What an id may have cost when its hold has lapsed. Empty: nothing explains its answers. `undefined`:
 * the search has reached its bound. A call without an answer may take effect after all others, or never.
 */
export function costsOf(calls: readonly HoldCall[], clockError: number): Set<number> | undefined {
  const costs = new Set<number>();
  const seen = new Set<string>();
  const ends = calls.map(({ end }) => end);
  const visit = (state: IdState, left: readonly number[]): void => {
    if (seen.size > MOST_STATES) return;
    const { charged, open, end } = state;
    const known = `${left.join()} ${charged} ${end} ${open?.count} ${open?.then} ${open?.lapsesFrom} ${open?.lapsesTo}`;
    if (seen.has(known)) return;
    seen.add(known);
    const firstEnd = Math.min(...left.map((i) => ends[i]!));
    if (firstEnd === Infinity) costs.add((open === undefined ? state : lapsed(state)).charged);
    for (const i of left) {
      const call = calls[i]!;
      if (call.start > firstEnd) continue;
      const others = left.filter((other) => other !== i);
      for (const { answer, next } of stepsOf(state, call, clockError)) {
        // One without an answer that has no effect is as if it had never come.
        const hasEffect = answer.ok && !answer.repeated;
        const isPossible = call.answer === undefined ? hasEffect : isSame(call.answer, answer);
        if (isPossible) visit(next, others);
      }
    }
  };
  visit(UNUSED, [...calls.keys()]);
  return seen.size > MOST_STATES ? undefined : costs;
}

function isSame(a: HoldAnswer, b: HoldAnswer): boolean {
  const isRepeated = (a.repeated ?? false) === (b.repeated ?? false);
  return a.ok === b.ok && a.count === b.count && a.reason === b.reason && isRepeated;
}

/** What has happened to a bucket that refills. */
function eventsOf(calls: readonly HoldCall[], clockError: number): BucketEvent[] {
  return [...groupsOf(calls, ({ id }) => id).values()].flatMap((own) => {
    const holds = own.filter(({ action }) => action.kind === "hold");
    const isEnded = own.some(({ answer }) => answer?.count !== undefined);
    return own.flatMap(({ action, answer, start, end }): BucketEvent[] => {
      if (action.kind === "hold" || action.kind === "take") {
        const isNew = answer?.ok === true && !answer.repeated;
        const grant: BucketEvent = { kind: "grant", count: action.count, start, end };
        if (action.kind === "take") return isNew ? [grant] : [];
        // One that no other call has ended may come back when it lapses.
        const lapses = action.terms.then === "release" && !(isEnded && holds.length === 1);
        const from = start + action.terms.for - clockError;
        const back: BucketEvent = { ...grant, kind: "refund", start: from, end: Infinity };
        return [...(isNew ? [grant] : []), ...(lapses && answer?.ok !== false ? [back] : [])];
      }
      if (answer?.ok === false) return [];
      const count = answer?.count ?? Math.max(0, ...holds.map((call) => countOf(call)));
      const back = count - (action.kind === "settle" ? action.actual : 0);
      if (back > 0) return [{ kind: "refund", count: back, start, end }];
      return back < 0 && end < Infinity ? [{ kind: "charge", count: -back, start, end }] : [];
    });
  });
}

const countOf = ({ action }: HoldCall): number => (action.kind === "hold" ? action.count : 0);

function describe({ action, answer, start, end }: HoldCall): string {
  return `${JSON.stringify(action)} from ${start.toFixed(1)} to ${end.toFixed(1)}: ${JSON.stringify(answer)}`;
}

function groupsOf<TItem>(
  items: readonly TItem[],
  of: (item: TItem) => string,
): Map<string, TItem[]> {
  const groups = new Map<string, TItem[]>();
  for (const item of items) {
    const group = groups.get(of(item));
    if (group === undefined) groups.set(of(item), [item]);
    else group.push(item);
  }
  return groups;
}
