/** How large the next block is. */

/** The fewest tokens of a block. A smaller one saves no round trip that is worth what it may lose. */
export const LEAST_BLOCK = 4;
/** At least this part of the level, however slow the limit is. */
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
 * Whole tokens for the next block; 0 where it is not worth one. At most half of the level, so that
 * others find tokens too, and the last ones stay in the row.
 *
 * @param level tokens in the row, as far as blocks may take them.
 */
export function blockSize({ demand, gain, refill }: BlockNeeds, level: number): number {
  const size = Math.min(demand * gain, level / 2, Math.max(refill, level * LEVEL_PART));
  return size >= LEAST_BLOCK ? Math.floor(size) : 0;
}
