/** When a limit with `blockFor` was closed. A closed bucket is a debt in its row: see `core/block.ts`. */
import { calculateRateLimit, type ShownConfig } from "trpc-rate-limit";
import type { KnownState } from "./predicted-line.js";

export interface Span {
  from: number;
  to: number;
}

/**
 * @param states in their order.
 * @returns the spans up to `now`, in their order. None without `blockFor`.
 */
export function closedSpans(
  states: readonly KnownState[],
  config: ShownConfig | undefined,
  now: number,
): Span[] {
  if (config?.blockFor === undefined) return [];
  // A token bucket opens empty. A window opens with tokens, and until then it may hold none.
  const least = config.kind === "fixed window" ? 1e-6 : 0;
  return states.flatMap((state, i) => {
    if (state.value >= 0) return [];
    const { at: from } = state;
    const { retryAfter = 0 } = calculateRateLimit(state, config, from, least);
    const to = Math.min(from + retryAfter, states[i + 1]?.at ?? now, now);
    return to > from ? [{ from, to }] : [];
  });
}
