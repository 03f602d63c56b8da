/**
 * Ends a hold again after a failure of the store: a hold that nothing ends lapses, and what was used under it
 * may then cost nothing. It is safe where an answer was lost, because a hold ends once.
 */
import { RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import type { Context } from "../context/context.js";

/** Before each further try, ms at most. */
const PAUSES = [100, 200, 400, 800, 1600, 3200];
/** After that time, no further try begins, ms: each may take a whole timeout. */
const TRY_FOR = 10_000;

/**
 * @param context in a transaction, which fails as a whole, there is one try.
 * @throws the error of the last try.
 */
export async function tryAgain<TResult>(
  { pause, environment }: Pick<Context, "pause" | "environment">,
  run: () => Promise<TResult>,
): Promise<TResult> {
  const until = performance.now() + TRY_FOR;
  for (const most of pause === undefined ? [] : PAUSES) {
    try {
      return await run();
    } catch (error) {
      if (isMistake(error) || performance.now() >= until) throw error;
    }
    // The half of it by chance: many calls may have failed at once.
    await pause!((most * (1 + environment.random())) / 2);
  }
  return run();
}

/** Of the caller, which no further try mends. */
function isMistake(error: unknown): boolean {
  return error instanceof RateLimitInputError || error instanceof RateLimitConfigError;
}
