/** Reserves tokens now, and resolves when the work may be done. */
import type { RateLimitResult } from "../core/decide.js";
import { RateLimitConfigError } from "../core/errors.js";
import { ACQUIRE_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { AcquireOptions } from "./call-options.js";
import type { Operations } from "./operations.js";

/**
 * @throws RateLimitError when the wait would be longer than `maxWait`; nothing was consumed.
 * @throws RateLimitConfigError when `maxWait` is not a number, or an option is unknown.
 * @throws the signal's reason when the signal is aborted; the reserved tokens are given back,
 * except for those that other reservations already rely on.
 */
export async function acquire(
  operations: Operations,
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>,
  name: string,
  options: AcquireOptions = {},
): Promise<RateLimitResult> {
  rejectUnknownOptions(options, ACQUIRE_OPTIONS, "acquire()");
  const { signal, maxWait: given = Infinity, ...request } = options;
  signal?.throwIfAborted();
  if (Number.isNaN(given)) throw new RateLimitConfigError("maxWait", given, "a number of ms");
  // A negative wait is the time until a deadline that has passed.
  const maxWait = Math.max(0, given);
  const result = await operations.limit(name, { ...request, reserve: true, throws: true }, maxWait);
  try {
    signal?.throwIfAborted();
    if (result.retryAfter !== undefined) await sleep(result.retryAfter, signal);
  } catch (error) {
    await operations.refund(name, { ...request, result });
    throw error;
  }
  return result;
}
