/** Customers that call as programs do: most of them a little, a few of them far too much. */
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../shared/server/trpc.js";

const CUSTOMERS = 40;
/** ms between two rounds. */
const ROUND = 500;
/** Of each round, how many customers call. */
const CALLERS = 9;

/** Calls until the signal is aborted. */
export async function callAsCustomers(
  { limiter }: Pick<App, "limiter">,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (!signal?.aborted) {
    const calls = Array.from({ length: CALLERS }, () => {
      const key = `customer ${pick()}`;
      // Limit: a denial is an answer. What is said of it here is that it was counted.
      return limiter.limit(Math.random() < 0.9 ? "apiCalls" : "exports", { key });
    });
    await Promise.all(calls);
    await sleep(ROUND, undefined, { signal }).catch(() => {});
  }
}

/** The first customers call most. */
function pick(): number {
  return 1 + Math.floor(CUSTOMERS * Math.random() ** 2);
}
