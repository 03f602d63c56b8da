/** How large the next block is. */

/**
 * The fewest tokens of a block. The round trips that a smaller block saves are not worth the tokens that
 * it may lose.
 */
export const LEAST_BLOCK = 4;
/** However slowly the limit refills, a block may have this part of the level. */
const LEVEL_PART = 1 / 64;

export interface BlockNeeds {
  /** Tokens that this process wants in the life of a block. */
  demand: number;
  /** See `Gain`. */
  gain: number;
  /** Tokens that refill in the life of a block. */
  refill: number;
}

/**
 * The whole tokens of the next block; 0 where a block is not worth it. A block gets at most half of the
 * level, so that other processes find tokens, too, and the last tokens stay in the row.
 *
 * @param level the tokens in the row that blocks may take.
 */
export function blockSize({ demand, gain, refill }: BlockNeeds, level: number): number {
  const size = Math.min(demand * gain, level / 2, Math.max(refill, level * LEVEL_PART));
  return size >= LEAST_BLOCK ? Math.floor(size) : 0;
}
