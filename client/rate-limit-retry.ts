/**
 * How often and when a `QueryClient` retries a failed query. A denied query is not retried before it
 * could pass; any other failure is retried as TanStack Query does by default.
 */
import { MAX_RETRY_AFTER } from "../core/config.js";
import { MAX_TIMEOUT } from "../core/durations.js";
import { isRateLimitError } from "../core/errors.js";

/** The longest wait for which a denied query may show that it is still loading, ms. */
const MAX_WAIT = 60_000;
/** The most that a retry waits beyond its time, ms, so that many pages do not retry together. */
const JITTER = 1000;

/**
 * For `retry` of a `QueryClient`'s default options.
 *
 * @param maxRetries how often, whatever the failure; whole, at least 0. The default is TanStack
 * Query's: 3, and 0 where there is no `window`, since a rendering server has no time to wait.
 * @param maxWait ms; a query that is denied for longer fails, so that people see why. @default 60,000
 *
 * @example
 * import { QueryClient } from "@tanstack/react-query";
 * import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
 *
 * const queryClient = new QueryClient({
 *   defaultOptions: { queries: { retry: rateLimitRetry(), retryDelay: rateLimitRetryDelay } },
 * });
 */
export function rateLimitRetry(
  maxRetries: number = typeof window === "undefined" ? 0 : 3,
  maxWait: number = MAX_WAIT,
): (failureCount: number, error: unknown) => boolean {
  return (failureCount, error) =>
    failureCount < maxRetries &&
    // No wait helps where `retryAfter` is the longest one, such as where credits are used up.
    !(
      isRateLimitError(error) &&
      error.data.rateLimit.retryAfter > Math.min(maxWait, MAX_RETRY_AFTER - 1)
    );
}

/**
 * For `retryDelay` of a `QueryClient`'s default options: ms until the next attempt.
 *
 * - denied: its `retryAfter`, and up to a second more at random, but at most as long as a timer can wait;
 * - the limits cannot be checked (`SERVICE_UNAVAILABLE`): twice the usual at most, at random, so
 *   that a database that comes back does not get all queries at once;
 * - anything else: 1 s, doubling up to 30 s.
 *
 * @example
 * import { QueryClient } from "@tanstack/react-query";
 * import { rateLimitRetry, rateLimitRetryDelay } from "trpc-rate-limit/client";
 *
 * const queryClient = new QueryClient({
 *   defaultOptions: { queries: { retry: rateLimitRetry(), retryDelay: rateLimitRetryDelay } },
 * });
 */
export function rateLimitRetryDelay(failureCount: number, error: unknown): number {
  if (isRateLimitError(error)) {
    // One ms more, since timers may be early by a part of a ms.
    const delay = error.data.rateLimit.retryAfter + 1 + Math.random() * JITTER;
    return Math.min(delay, MAX_TIMEOUT);
  }
  const usual = Math.min(1000 * 2 ** failureCount, 30_000);
  const { code } = (error as { data?: { code?: unknown } | null } | null)?.data ?? {};
  return code === "SERVICE_UNAVAILABLE" ? usual * (1 + Math.random()) : usual;
}
