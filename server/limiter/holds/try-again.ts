/**
 * Ends a hold again after a failure of the store: a hold that nothing ends lapses, and the work under the
 * hold may then cost nothing. A further try is safe where an answer was lost, because a hold ends once.
 */
import { RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import type { Context } from "../context/context.js";

/** The longest pause before each further try, ms. */
const PAUSES = [100, 200, 400, 800, 1600, 3200];
/** No further try begins after so many ms, because each try may take a whole timeout. */
const TRY_FOR = 10_000;

/**
 * @param context in a transaction, there is one try, because a transaction fails as a whole.
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
    // Between half and all of `most`, by chance, because many calls may have failed at once.
    await pause!((most * (1 + environment.random())) / 2);
  }
  return run();
}

/** Whether the error is a mistake of the caller, which no further try mends. */
function isMistake(error: unknown): boolean {
  return error instanceof RateLimitInputError || error instanceof RateLimitConfigError;
}
