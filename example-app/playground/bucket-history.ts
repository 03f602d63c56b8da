/**
 * The page's knowledge of one bucket over the last minute: the states that the server has reported, and
 * between them the page's predictions. All times are the server's.
 *
 * A granted call reports its state twice: by its answer and by a snapshot. The answers may arrive in any
 * order, so the states are kept in the order in which the server wrote them.
 */
import {
  calculateRateLimit,
  type ShownConfig,
  type RateLimitErrorData,
  type RateLimitSnapshot,
} from "trpc-rate-limit";
import { closedSpans, type Span } from "./closed-spans.js";
import { comparisonsOf, type Measured, NOTHING_MEASURED, sumUp } from "./measure-prediction.js";
import { type KnownState, type Line, predictedLine } from "./predicted-line.js";
import { createWaitingCalls } from "./waiting-calls.js";

/** How far back the history goes at most, ms. */
export const SPAN = 60_000;
/** How far back the plot goes at first, ms: a first call is then easy to see. */
const FIRST_SPAN = 15_000;
/** How long before the first call the plot begins, ms. */
const BEFORE_FIRST = 1_000;
/** Two values that differ by less are equal: sums of doubles are not exact. */
const TOLERANCE = 1e-6;

/** The answer to a granted call. */
interface Grant {
  value: number;
  ts: number;
  now: number;
}

interface State extends KnownState {
  /** The tokens of the call that led to the state; `undefined` where only a snapshot reported the state. */
  count?: number | undefined;
  /** Whether the page has calculated the state, see `granted`. */
  isPredicted?: boolean;
  /**
   * The last call that was sent before the answer came. Calls up to that one may have been decided first.
   */
  sentBefore?: number;
}

/** A mark on the plot. */
export interface Mark {
  at: number;
  value: number;
  kind: "granted" | "snapshot";
}

interface Counts {
  granted: number;
  /** The tokens of all granted calls. */
  tokens: number;
  denied: number;
  /** Calls without an answer. Their tokens may have been taken or not. */
  lost: number;
  /** Calls that are not answered yet. */
  waiting: number;
}

const NONE: Counts = { granted: 0, tokens: 0, denied: 0, lost: 0, waiting: 0 };

export type BucketHistory = ReturnType<typeof createBucketHistory>;

export function createBucketHistory() {
  const listeners = new Set<() => void>();
  const calls = createWaitingCalls();
  let config: ShownConfig | undefined;
  let counts = NONE;
  let states: State[] = [];
  /** The instants of denials. */
  let denials: number[] = [];
  /** The first call of those that the plot shows. */
  let firstAt: number | undefined;
  /** The sums of the states that are forgotten. */
  let measuredBefore = NOTHING_MEASURED;

  function change(next: Partial<Counts> = {}): void {
    counts = { ...counts, ...next, waiting: calls.size };
    for (const listener of listeners) listener();
  }

  /** Starts anew. Calls that are not answered yet stay counted. */
  function clear(): void {
    states = [];
    denials = [];
    firstAt = undefined;
    measuredBefore = NOTHING_MEASURED;
    change(NONE);
  }

  /** Keeps the last minute, and the state with which that minute begins. */
  function forget(now: number): void {
    const first = states.findLastIndex(({ at }) => at <= now - SPAN);
    if (first > 0) {
      measuredBefore = sumUp(measuredBefore, comparisonsOf(states.slice(0, first + 1), after));
      states = states.slice(first);
    }
    denials = denials.filter((at) => at > now - SPAN);
    const isShown = denials.length > 0 || states.at(-1)!.at > now - SPAN;
    if (!isShown) firstAt = undefined;
  }

  function add(state: State): void {
    // A hidden tab draws no line but still learns new states, so forget old states here, too.
    if (states.length > 0) forget(state.at);
    const same = states.find(
      ({ value, ts, closedUntil }) =>
        ts === state.ts &&
        closedUntil === state.closedUntil &&
        Math.abs(value - state.value) < TOLERANCE,
    );
    if (same) {
      if (same.count === undefined) Object.assign(same, { ...state, at: same.at });
      same.at = Math.min(same.at, state.at);
      return;
    }
    states.push(state);
    states.sort((a, b) => writtenAt(a) - writtenAt(b) || b.value - a.value);
  }

  function after(state: KnownState, ts: number, count = 0): number {
    return calculateRateLimit(state, config!, ts, count).value;
  }

  /** How far back the plot goes, ms: to just before the first call, and at most a minute. */
  function spanAt(now: number): number {
    return Math.min(SPAN, Math.max(FIRST_SPAN, now - (firstAt ?? now) + BEFORE_FIRST));
  }

  return {
    get config() {
      return config;
    },
    get counts() {
      return counts;
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    clear,
    /** The tokens that the page predicts; `undefined` while nothing is known. */
    valueAt(now: number): number | undefined {
      const last = states.at(-1);
      return last && after(last, now);
    },
    /** When the bucket opens after a denial has closed it; `undefined` where it is open. */
    closedUntil(now: number): number | undefined {
      const { closedUntil = -Infinity } = states.at(-1) ?? {};
      return closedUntil > now ? closedUntil : undefined;
    },
    /** The start of a window; `undefined` for a limit without windows. */
    get windowStart() {
      return config?.kind === "fixed window" ? states.at(-1)?.ts : undefined;
    },

    /** @returns the number of the call, to be told with its answer. */
    sent(): number {
      const call = calls.send();
      change();
      return call;
    },
    lost(call: number) {
      calls.end(call);
      change({ lost: counts.lost + 1 });
    },
    /** An answer that is neither a grant nor a denial. */
    failed(call: number) {
      calls.end(call);
      change();
    },
    granted(call: number, { value, ts, now }: Grant, count: number) {
      calls.end(call);
      const at = config?.kind === "fixed window" ? now : ts;
      if ((config?.shards ?? 1) === 1) add({ value, ts, at, count, sentBefore: calls.last });
      else {
        // The answer is about the shards of this call. The sum of all shards comes with a snapshot.
        const before = states.findLast((state) => state.ts <= ts);
        const sum = before && after(before, ts, count);
        if (sum !== undefined) add({ value: sum, ts, at, count, isPredicted: true });
      }
      firstAt ??= at;
      const { granted, tokens } = counts;
      change({ granted: granted + 1, tokens: tokens + count });
    },
    denied(call: number, { now }: RateLimitErrorData) {
      calls.end(call);
      firstAt ??= now;
      denials.push(now);
      // The page's hooks report a denial as a snapshot. A denial changes no tokens, so remove that
      // snapshot. If the denial has closed the bucket, the next snapshot of the server says so.
      states = states.filter(({ at, count, closedUntil }) => {
        return at !== now || count !== undefined || closedUntil !== undefined;
      });
      change({ denied: counts.denied + 1 });
    },
    snapshot({ value, ts, closedUntil, now, config: reported }: RateLimitSnapshot) {
      if (JSON.stringify(reported) !== JSON.stringify(config)) {
        config = reported;
        clear();
      }
      // A closed bucket has its `ts` ahead of `now`. A bucket that is open again has its `ts` in the
      // past.
      const isWritten = reported.kind !== "fixed window" && !(closedUntil! > now);
      add({ value, ts, at: isWritten ? ts : now, closedUntil });
      change();
    },

    spanAt,

    /** The predicted line up to `now`, as far back as the plot goes. */
    line(now: number): Line {
      if (!config || states.length === 0) return { at: [], values: [] };
      forget(now);
      return predictedLine(states, config, now - spanAt(now), now);
    },

    /** The server's reports of the bucket in the last minute. */
    marks(now: number): Mark[] {
      const marks = states.map(({ at, value, count }): Mark => {
        return { at, value, kind: count === undefined ? "snapshot" : "granted" };
      });
      return marks.filter(({ at }) => at > now - SPAN);
    },

    /** When the limit was closed, as far back as the page remembers. */
    closed: (now: number): Span[] => closedSpans(states, now),

    /** When the server denied calls, in the last minute. */
    denials: (now: number) => denials.filter((at) => at > now - SPAN),

    /**
     * Compares the page's predictions of the grants with the server's answers. A grant is predicted from
     * the state before it. The grant counts once all calls that may have come before it have their
     * answers.
     */
    measured(): Measured {
      const comparisons = comparisonsOf(states, after, (state) =>
        calls.haveEndedUpTo(state.sentBefore!),
      );
      return sumUp(measuredBefore, comparisons);
    },
  };
}

/** The instants by which states are in the order in which the server wrote them. */
function writtenAt({ ts, at, closedUntil }: KnownState): number {
  return closedUntil === undefined ? ts : Math.min(ts, at);
}
