/** When a limit with `blockFor` was closed. */
import type { KnownState } from "./predicted-line.js";

export interface Span {
  from: number;
  to: number;
}

/**
 * @param states in their order.
 * @returns the spans up to `now`, in their order. None without `blockFor`.
 */
export function closedSpans(states: readonly KnownState[], now: number): Span[] {
  return states.flatMap(({ at: from, closedUntil = -Infinity }, i) => {
    const to = Math.min(closedUntil, states[i + 1]?.at ?? now, now);
    return to > from ? [{ from, to }] : [];
  });
}
