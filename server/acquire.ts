/** Waiting one's turn: reserves now, and comes back when the work may be done. */
import type { RateLimitResult } from "../core/decide.js";
import { RateLimitConfigError } from "../core/errors.js";
import type { AcquireOptions } from "./limiter-types.js";
import type { Operations } from "./operations.js";

/**
 * @throws RateLimitError when no reservation could be had within `maxWait`; nothing was consumed.
 * @throws RateLimitConfigError when `maxWait` is not a number.
 * @throws the signal's reason when that is aborted; what was reserved is given back.
 */
export async function acquire(
  operations: Operations,
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>,
  name: string,
  { signal, maxWait: longest = Infinity, ...wanted }: AcquireOptions,
): Promise<RateLimitResult> {
  signal?.throwIfAborted();
  if (Number.isNaN(longest)) throw new RateLimitConfigError("maxWait", longest, "a number of ms");
  // Less than nothing is what is left until a deadline that has passed.
  const maxWait = Math.max(0, longest);
  const result = await operations.limit(name, { ...wanted, maxWait, reserve: true, throws: true });
  try {
    signal?.throwIfAborted();
    if (result.retryAfter !== undefined) await sleep(result.retryAfter, signal);
  } catch (error) {
    await operations.refund(name, wanted);
    throw error;
  }
  return result;
}
