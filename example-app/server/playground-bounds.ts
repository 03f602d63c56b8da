/**
 * The numbers that visitors may choose in the playground. They keep one visitor from costing the
 * server much. The form shows them, so this module imports nothing.
 */
export const BOUNDS = {
  rate: { min: 0.1, max: 10_000 },
  /** ms */
  period: { min: 1_000, max: 600_000 },
  capacity: { min: 1, max: 10_000 },
  shards: { min: 1, max: 16 },
  /** ms; left out for no block. */
  blockFor: { min: 1_000, max: 600_000 },
  /** Tokens of one call. */
  count: { min: 1, max: 10_000 },
} as const;
