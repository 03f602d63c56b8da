/** Trying again after conflicts, with full jitter, so that those who collided do not do it again. */

/** The pauses' upper bounds double from the first to the last, ms. */
const FIRST_PAUSE = 5;
const LAST_PAUSE = 500;

export interface RetryOptions {
  /** How long to go on for, ms; the last error is thrown after that. */
  retryFor: number;
  isConflict(error: unknown): boolean;
  random?: () => number;
}

export async function retryConflicts<TResult>(
  run: () => Promise<TResult>,
  { retryFor, isConflict, random = Math.random }: RetryOptions,
): Promise<TResult> {
  const until = performance.now() + retryFor;
  for (let bound = FIRST_PAUSE; ; bound = Math.min(2 * bound, LAST_PAUSE)) {
    try {
      return await run();
    } catch (error) {
      const pause = random() * bound;
      if (!isConflict(error) || performance.now() + pause > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
