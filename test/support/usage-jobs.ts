/** Jobs that are paid by credits and billed by their use. A job that is done again changes nothing. */
import { createRateLimiter, DAY, HOUR, MINUTE, type RateLimitStore } from "../../server/index.js";

const usage = { every: MINUTE, keep: DAY, changes: true } as const;
const limits = {
  credits: { kind: "credits", holds: true, usage },
  tokens: { kind: "fixed window", rate: 1e9, period: 365 * DAY, start: 0, usage },
} as const;

export const KEY = "ann";
/** Credits that each job brings. */
export const BOUGHT = 20;
/** Tokens that each job is charged. */
export const CHARGED = 3;

/** @param ahead ms that the clock is ahead of that of the database: spans are told when they are over. */
export function openJobs(store: RateLimitStore, ahead = 0) {
  const clock = ahead === 0 ? {} : { clock: () => Date.now() + ahead };
  // No sum is written: what counts must be in the table by itself.
  return createRateLimiter({ store, limits, timeout: 30_000, flushUsage: MINUTE / 2, ...clock });
}

/** What a job has used in the end: less or more than it had estimated, and never nothing. */
export const usedBy = (job: number): number => 1 + (job % 7);

export async function runJob(limiter: ReturnType<typeof openJobs>, job: number): Promise<void> {
  const id = { key: KEY, once: `job ${job}` };
  const hold = { for: HOUR, then: "keep" } as const;
  await limiter.credit("credits", { ...id, count: BOUGHT });
  await limiter.limit("credits", { ...id, count: 5, hold, throws: true });
  await limiter.settle("credits", id, usedBy(job));
  await limiter.charge("tokens", { ...id, count: CHARGED });
  // Without an id, a job that is done again uses this again.
  const estimated = await limiter.limit("credits", { key: KEY, count: 2 });
  if (estimated.ok) await limiter.settle(estimated, 1);
}
