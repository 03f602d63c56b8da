/** Customers that call as programs do: most of them a little, a few of them far too much. */
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../shared/server/trpc.js";
import { controlRoomLimits } from "./limits.js";

const CUSTOMERS = 40;
/** ms between two rounds. */
const ROUND = 500;
/** How many customers call in each round. */
const CALLERS = 9;

/** How many of the first customers have called too much before a page looks. */
const TOO_MANY = 3;

/** Lets a few customers call at once until they are limited. */
export async function callTooMuch({ limiter }: Pick<App, "limiter">): Promise<void> {
  const { rate } = controlRoomLimits.apiCalls;
  const calls = Array.from({ length: TOO_MANY * (rate + 1) }, (_, i) =>
    // Limit: a denial is an answer, and needs no handling here.
    limiter.limit("apiCalls", { key: `customer ${1 + (i % TOO_MANY)}` }),
  );
  await Promise.all(calls);
}

/** Calls until the signal is aborted. */
export async function callAsCustomers(
  { limiter }: Pick<App, "limiter">,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (!signal?.aborted) {
    const calls = Array.from({ length: CALLERS }, () => {
      const key = `customer ${pick()}`;
      // Limit: a denial is an answer. The denial needs no handling here, since the limit has counted it.
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
