/** Gives tokens back, for work that was charged and then not done. */
import { initialState, type RateLimitState, stateAt } from "./calculate.js";
import { capacityOf, type RateLimitConfig } from "./config.js";
import { validateCount } from "./count.js";

export interface RefundedRateLimit {
  /** Tokens held by the rows together, after the refund. */
  value: number;
  /** The states to write; `undefined` for a row that stays as it is. */
  next: (RateLimitState | undefined)[];
  /** Tokens that did not fit into these rows. */
  left: number;
}

/**
 * Gives `count` tokens back to rows that share a limit, the emptiest first, up to their capacity.
 * So tokens that were refilled meanwhile are not given twice. A missing row is full already.
 *
 * @param config one shard's part, see `shardConfig`.
 * @throws RateLimitInputError when `count` is negative or not finite.
 */
export function refundRateLimit(
  rows: readonly (RateLimitState | null)[],
  config: RateLimitConfig,
  now: number,
  count: number,
): RefundedRateLimit {
  validateCount(count);
  const capacity = capacityOf(config);
  const held = rows.map((row) => stateAt(row ?? initialState(config, now), config, now));
  const next: (RateLimitState | undefined)[] = rows.map(() => undefined);
  const emptiestFirst = [...held.keys()].sort((a, b) => held[a]!.value - held[b]!.value);
  let left = count;
  for (const index of emptiestFirst) {
    const { value, ts } = held[index]!;
    const given = Math.min(left, capacity - value);
    if (given <= 0) continue;
    // A full row gets `capacity` itself: `value + given` could differ by a rounding error.
    next[index] = { value: given < left ? capacity : Math.min(value + given, capacity), ts };
    left -= given;
  }
  const value = held.reduce((sum, state, index) => sum + (next[index] ?? state).value, 0);
  return { value, next, left };
}
