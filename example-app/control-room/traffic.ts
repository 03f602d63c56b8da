/** Customers that call as programs do: most of them a little, a few of them far too much. */
import type { RateLimiter } from "trpc-rate-limit/server";
import { controlRoomLimits } from "./limits.js";

const CUSTOMERS = 40;
/** ms between two rounds. */
const ROUND = 500;
/** How many customers call in each round. */
const CALLERS = 9;

/** How many of the first customers have called too much before a page looks. */
const TOO_MANY = 3;

/** A limiter that has these limits, among others. */
interface Called {
  limiter: Pick<RateLimiter<typeof controlRoomLimits>, "limit">;
}

/** Lets a few customers call at once until they are limited. */
export async function callTooMuch({ limiter }: Called): Promise<void> {
  const { rate } = controlRoomLimits.apiCalls;
  const calls = Array.from({ length: TOO_MANY * (rate + 1) }, (_, i) =>
    // Limit: a denial is an answer, and needs no handling here.
    limiter.limit("apiCalls", { key: `customer ${1 + (i % TOO_MANY)}` }),
  );
  await Promise.all(calls);
}

/** Lets a few of all customers call once. */
export async function callOnce({ limiter }: Called): Promise<void> {
  const calls = Array.from({ length: CALLERS }, () => {
    const key = `customer ${pick()}`;
    // Limit: a denial is an answer. The denial needs no handling here, since the limit has counted it.
    return limiter.limit(Math.random() < 0.9 ? "apiCalls" : "exports", { key });
  });
  await Promise.all(calls);
}

/** Calls until the signal is aborted. */
export async function callAsCustomers(
  called: Called,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (!signal?.aborted) {
    await callOnce(called);
    // Not the `setTimeout` of Node: the customers of the documentation call in a web worker.
    await new Promise((resolve) => setTimeout(resolve, ROUND));
  }
}

/** The first customers call most. */
function pick(): number {
  return 1 + Math.floor(CUSTOMERS * Math.random() ** 2);
}
