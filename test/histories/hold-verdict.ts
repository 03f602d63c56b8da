/**
 * Checks a history of holds. For each id, some order of its calls must explain all answers. So nothing is
 * settled twice, before its hold or after it. The ids together must have cost what the bucket has lost.
 * So nothing comes back twice, and nothing is lost except what `then` says.
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
  /** How many buckets have an exactly known number of tokens. */
  exact: number;
  /** How many calls have ended a hold. `lapses`: how many calls came too late. */
  ends: number;
  lapses: number;
  /** How many ids have too many calls in flight at a time for the search. */
  undecided: number;
}

/** The bound of the search for an order of the calls of one id. */
const MOST_STATES = 20_000;

export interface HoldChecks {
  limits: Readonly<Record<string, HoldLimit>>;
  /** How far the time of a decision may be from the clock of the calls, ms. */
  clockError: number;
  /** The tokens of each bucket (see `bucketOf`) after all holds have lapsed, and a call was denied. */
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
 * All costs that an id may have when its hold has lapsed. Empty: no order explains its answers.
 * `undefined`: the search has reached its bound. A call without an answer may take effect after all
 * others, or never.
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
        // A call without an answer and without an effect can be left out.
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

/** The events of a bucket that refills. */
function eventsOf(calls: readonly HoldCall[], clockError: number): BucketEvent[] {
  return [...groupsOf(calls, ({ id }) => id).values()].flatMap((own) => {
    const holds = own.filter(({ action }) => action.kind === "hold");
    const isEnded = own.some(({ answer }) => answer?.count !== undefined);
    return own.flatMap(({ action, answer, start, end }): BucketEvent[] => {
      if (action.kind === "hold" || action.kind === "take") {
        const isNew = answer?.ok === true && !answer.repeated;
        const grant: BucketEvent = { kind: "grant", count: action.count, start, end };
        if (action.kind === "take") return isNew ? [grant] : [];
        // A hold that no other call has ended may come back when it lapses.
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
