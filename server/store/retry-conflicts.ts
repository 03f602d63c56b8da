/**
 * Retries after conflicts, with full jitter, so that the same calls do not collide again. All code that
 * meets conflicts uses this file: transactions, calls of group commit, reads, the writes of `prune`.
 */

/**
 * The upper bounds of the pauses, ms. The bound doubles after each conflict, from the first to the
 * last.
 */
const FIRST_PAUSE = 5;
const LAST_PAUSE = 500;

/** How long to retry for, ms, where the caller does not say. */
export const RETRY_FOR = 10_000;

export interface RetryOptions {
  /** How long to retry for, ms. After that, the last error is thrown. @default 10 s */
  retryFor?: number;
  isConflict(error: unknown): boolean;
  random?: () => number;
}

/** @returns ms before the next try, after this number of conflicts in a row, with full jitter. */
export function pauseBefore(conflicts: number, random: () => number): number {
  return random() * Math.min(FIRST_PAUSE * 2 ** (conflicts - 1), LAST_PAUSE);
}

export async function retryConflicts<TResult>(
  run: () => Promise<TResult>,
  { retryFor = RETRY_FOR, isConflict, random = Math.random }: RetryOptions,
): Promise<TResult> {
  const until = performance.now() + retryFor;
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await run();
    } catch (error) {
      const pause = pauseBefore(conflicts, random);
      if (!isConflict(error) || performance.now() + pause > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** A conflict found by the store instead of the database, with Prisma's code for conflicts. */
export class WriteConflictError extends Error {
  override readonly name = "WriteConflictError";
  /** "Transaction failed due to a write conflict or a deadlock. Please retry your transaction" */
  readonly code = "P2034";

  constructor(
    message = "another transaction wrote the same rate limits; retry the transaction",
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
