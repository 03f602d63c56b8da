/** Asks again while another process holds rows. As a rule, a process holds rows for some milliseconds. */
import { RedisConflictError } from "./redis-errors.js";

/** How long to ask, ms. */
const ASK = 150;
/** The longest pause between two questions, ms. */
const PAUSE = 4;

/**
 * @param ask rejects with a `RedisConflictError` while rows are held.
 * @throws RedisConflictError when rows are still held after 150 ms.
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
