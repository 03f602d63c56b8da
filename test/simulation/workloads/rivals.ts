/**
 * Callers of all processes that use the same two buckets at the same instant, all or nothing. A denial
 * closes the bucket that lacks tokens, and says what the other bucket would have given. So each of two
 * calls may write a row that the other call has only read. Some order of the calls must explain all
 * answers.
 */
import { type Caller, isStoreFailure, type Workload } from "./context.js";

interface Call {
  start: number;
  end: number;
  counts: readonly [number, number];
  /** Whether each bucket granted; `undefined` without an answer. */
  oks: readonly boolean[] | undefined;
}

/** The calls of each pair of buckets, by key. */
export type Rivals = Map<string, Call[]>;

const DAY = 86_400_000;
const CAPACITY = 2;
const bucket = { kind: "token bucket", rate: CAPACITY, period: DAY, blockFor: DAY } as const;
const COUNTS = [
  [1, 1],
  [2, 1],
  [1, 2],
] as const;
/** How long one pair of buckets is the newest, ms. */
const EVERY = 50;
/** Keeps a seed short. */
const MOST_ROUNDS = 40;

export function createRivals(rivals: Rivals): Workload {
  return async (caller: Caller) => {
    const { member, random, timeline } = caller;
    const now = member.frozen.clock();
    const limiter = member.limiter({ left: bucket, right: bucket }, () => now);
    for (let i = 0; i < MOST_ROUNDS && caller.isOn(); i++) {
      const round = Math.floor(timeline.now / EVERY) + 1;
      await member.sleep(round * EVERY - timeline.now);
      const key = `rivals ${round}`;
      const calls = rivals.get(key) ?? [];
      rivals.set(key, calls);
      for (const counts of [random.pick(COUNTS), random.pick(COUNTS)]) {
        const call: Call = { start: timeline.now, end: Infinity, counts, oks: undefined };
        calls.push(call);
        caller.tally.note("rivals");
        try {
          const { results } = await limiter.limitAll([
            { name: "left", key, count: counts[0] },
            { name: "right", key, count: counts[1] },
          ]);
          call.oks = results.map(({ ok }) => ok);
          call.end = timeline.now;
        } catch (error) {
          if (!isStoreFailure(error)) throw error;
          caller.failed(error, "rivals");
        }
      }
    }
  };
}

/** The first pair of buckets whose answers no order explains. */
export function problemOf(rivals: Rivals): string | undefined {
  for (const [key, calls] of rivals) {
    // A call without an answer may have taken effect at an unknown time.
    if (calls.some(({ oks }) => oks === undefined)) continue;
    if (hasOrder(calls, [CAPACITY, CAPACITY])) continue;
    const told = calls.map(({ counts, oks }) => `${counts.join(" and ")}: ${oks!.join(" and ")}`);
    return `no order of the calls explains ${key}: ${told.join("; ")}`;
  }
  return undefined;
}

/** @param held the tokens of the buckets; `-Infinity` for a closed bucket. */
function hasOrder(calls: readonly Call[], held: readonly [number, number]): boolean {
  if (calls.length === 0) return true;
  const firstEnd = Math.min(...calls.map(({ end }) => end));
  return calls.some((call) => {
    if (call.start > firstEnd) return false;
    const oks = call.counts.map((count, i) => held[i]! >= count);
    if (oks.some((ok, i) => ok !== call.oks![i])) return false;
    const isGranted = oks.every(Boolean);
    const next = call.counts.map((count, i) => {
      if (isGranted) return held[i]! - count;
      return oks[i] ? held[i]! : -Infinity;
    }) as [number, number];
    const others = calls.filter((other) => other !== call);
    return hasOrder(others, next);
  });
}
