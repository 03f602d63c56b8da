/** Asks again while another process holds rows. It does so for some milliseconds as a rule. */
import { RedisConflictError } from "./redis-errors.js";

/** How long to ask, ms. */
const ASK = 150;
/** The longest pause between two questions, ms. */
const PAUSE = 4;

/**
 * @param ask its `RedisConflictError` means that rows are held.
 * @throws RedisConflictError when they still are after that time.
 */
export async function askAgain<TResult>(ask: () => Promise<TResult>): Promise<TResult> {
  const until = performance.now() + ASK;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RedisConflictError) || performance.now() >= until) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE * Math.random()));
    }
  }
}
