/** Reserves tokens now, and resolves when the work may be done. */
import { countOf } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { ACQUIRE_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { AcquireOptions } from "./call-options.js";
import type { Context } from "./context.js";
import { limit } from "./limit.js";
import { giveBack } from "./give-back.js";
import { ownReceiptOf } from "./receipt.js";

/**
 * @throws RateLimitError when the wait would be longer than `maxWait`; nothing was consumed.
 * @throws RateLimitConfigError when `maxWait` is not a number, or an option is unknown.
 * @throws the signal's reason when the signal is aborted; the reserved tokens are given back,
 * except for those that other reservations already rely on. If the store fails then, they stay taken.
 */
export async function acquire(
  context: Context,
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
  const result = await limit(context, name, { ...request, reserve: true, throws: true }, maxWait);
  try {
    signal?.throwIfAborted();
    if (result.retryAfter !== undefined) await sleep(result.retryAfter, signal);
  } catch (error) {
    // If the store fails now, the tokens stay taken. The caller asks why the wait has ended.
    const receipt = ownReceiptOf(result, context.environment);
    const giving = receipt?.inTurn(undefined, () => giveBack(context, receipt, countOf(request)));
    await giving?.catch(() => {});
    throw error;
  }
  return result;
}
