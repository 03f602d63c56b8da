/**
 * The states that this process wrote last, as guesses of what the rows hold now. A guess needs no
 * round trip, and a guarded write finds out whether it was right; where it often is not, because
 * other processes write the same row, it is not made for a while.
 */
import type { RateLimitState } from "../../core/calculate.js";

interface Guess {
  state: RateLimitState | undefined;
  /** How many more writes have to succeed before a state is guessed again. */
  distrust: number;
}

/** The most writes that a row stays distrusted for. */
const MAX_DISTRUST = 64;

export interface StateCache {
  get(id: string): RateLimitState | undefined;
  /** The row was written, or deleted when `null`, by us. */
  won(id: string, state: RateLimitState | null): void;
  /** Somebody else had written the row; this, if that is known. */
  lost(id: string, state?: RateLimitState): void;
  /** Nothing is known of the row any more. */
  forget(id: string): void;
}

/** @param maxRows the most rows remembered; those written longest ago go first. */
export function createStateCache(maxRows: number): StateCache {
  const guesses = new Map<string, Guess>();

  function put(id: string, guess: Guess): void {
    // Deleted first, so that the map's order is that of the last write.
    guesses.delete(id);
    guesses.set(id, guess);
    if (guesses.size > maxRows) guesses.delete(guesses.keys().next().value!);
  }

  return {
    get: (id) => guesses.get(id)?.state,
    won(id, state) {
      const distrust = Math.max(0, (guesses.get(id)?.distrust ?? 0) - 1);
      put(id, { state: distrust > 0 || state === null ? undefined : state, distrust });
    },
    lost(id, state) {
      if (state !== undefined) return put(id, { state, distrust: 0 });
      const distrust = Math.min(MAX_DISTRUST, 2 * (guesses.get(id)?.distrust ?? 0) + 1);
      put(id, { state: undefined, distrust });
    },
    forget(id) {
      const guess = guesses.get(id);
      if (guess !== undefined) guess.state = undefined;
    },
  };
}
