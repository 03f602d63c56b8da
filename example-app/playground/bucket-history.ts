/**
 * What the page knows of one bucket over the last minute: the states that the server has reported,
 * and between them the page's predictions. All times are the server's.
 *
 * A state is reported twice where a call was granted, by its answer and by a snapshot. The answers
 * may arrive in any order, so the states are kept in the order in which the server wrote them.
 */
import {
  calculateRateLimit,
  type RateLimitConfig,
  type RateLimitErrorData,
  type RateLimitSnapshot,
} from "trpc-rate-limit";
import { type KnownState, type Line, predictedLine } from "./predicted-line.js";

/** How far back the history goes, ms. */
export const SPAN = 60_000;
/** Two values that differ by less are one: sums of doubles are not exact. */
const TOLERANCE = 1e-6;

/** The answer to a granted call. */
interface Grant {
  value: number;
  ts: number;
  now: number;
}

interface State extends KnownState {
  /** The tokens of the call that led to it; `undefined` where only a snapshot reported it. */
  count?: number | undefined;
  /** The page has calculated it, see `granted`. */
  isPredicted?: boolean;
}

/** A mark on the plot. */
export interface Mark {
  at: number;
  value: number;
  kind: "granted" | "denied" | "snapshot";
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
  let config: RateLimitConfig | undefined;
  let counts = NONE;
  let states: State[] = [];
  let denials: Mark[] = [];

  function change(next: Partial<Counts> = {}): void {
    counts = { ...counts, ...next };
    for (const listener of listeners) listener();
  }

  /** Starts anew. Calls that are not answered yet stay counted. */
  function clear(): void {
    states = [];
    denials = [];
    change({ ...NONE, waiting: counts.waiting });
  }

  /** Keeps a minute, and the state with which it begins. */
  function forget(now: number): void {
    const first = states.findLastIndex(({ at }) => at <= now - SPAN);
    if (first > 0) states = states.slice(first);
    denials = denials.filter(({ at }) => at > now - SPAN);
  }

  function add(state: State): void {
    // A hidden tab draws no line, and goes on learning.
    forget(state.at);
    const same = states.find(
      ({ value, ts }) => ts === state.ts && Math.abs(value - state.value) < TOLERANCE,
    );
    if (same) {
      same.count ??= state.count;
      same.at = Math.min(same.at, state.at);
      return;
    }
    states.push(state);
    states.sort((a, b) => a.ts - b.ts || b.value - a.value);
  }

  function after(state: State, ts: number, count = 0): number {
    return calculateRateLimit(state, config!, ts, count).value;
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
    /** The start of a window, where there are windows. */
    get windowStart() {
      return config?.kind === "fixed window" ? states.at(-1)?.ts : undefined;
    },

    sent: () => change({ waiting: counts.waiting + 1 }),
    lost: () => change({ waiting: counts.waiting - 1, lost: counts.lost + 1 }),
    /** An answer that is neither a grant nor a denial. */
    failed: () => change({ waiting: counts.waiting - 1 }),
    granted({ value, ts, now }: Grant, count: number) {
      const at = config?.kind === "fixed window" ? now : ts;
      if ((config?.shards ?? 1) === 1) add({ value, ts, at, count });
      else {
        // The answer is about the shards of this call. The sum of all shards comes with a snapshot.
        const before = states.findLast((state) => state.ts <= ts);
        const sum = before && after(before, ts, count);
        if (sum !== undefined) add({ value: sum, ts, at, count, isPredicted: true });
      }
      const { granted, tokens, waiting } = counts;
      change({ granted: granted + 1, tokens: tokens + count, waiting: waiting - 1 });
    },
    denied({ value, now }: RateLimitErrorData) {
      denials.push({ at: now, value, kind: "denied" });
      // The page's hooks take a denial for a snapshot. It has its own mark here.
      states = states.filter(({ at, count }) => at !== now || count !== undefined);
      change({ denied: counts.denied + 1, waiting: counts.waiting - 1 });
    },
    snapshot({ value, ts, now, config: reported }: RateLimitSnapshot) {
      if (JSON.stringify(reported) !== JSON.stringify(config)) {
        config = reported;
        clear();
      }
      add({ value, ts, at: reported.kind === "fixed window" ? now : ts });
      change();
    },

    /** The predicted line up to `now`. */
    line(now: number): Line {
      forget(now);
      return config ? predictedLine(states, config, now - SPAN, now) : { at: [], values: [] };
    },

    /** What the server said, in the last minute. */
    marks(now: number): Mark[] {
      const reported = states.map(({ at, value, count }): Mark => {
        return { at, value, kind: count === undefined ? "snapshot" : "granted" };
      });
      return [...reported, ...denials].filter(({ at }) => at > now - SPAN);
    },

    /**
     * By how many tokens a grant differs from its prediction at most, and of how many grants. A
     * grant is predicted from the state before it.
     */
    deviation(): { grants: number; most: number } {
      const differences = states.slice(1).flatMap((state, i) => {
        const { count, ts, value, isPredicted } = state;
        return count === undefined || isPredicted
          ? []
          : [Math.abs(after(states[i]!, ts, count) - value)];
      });
      return { grants: differences.length, most: Math.max(0, ...differences) };
    },
  };
}
