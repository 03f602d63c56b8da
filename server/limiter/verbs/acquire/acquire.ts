/** `acquire`: reserves tokens in the call's turn, and resolves when the work may be done. */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { RateLimitResult } from "../../../../core/decide.js";
import { rowKey } from "../../../store/store.js";
import { AcquireLine } from "./acquire-line.js";
import type { AcquireOptions } from "../../types/acquire.js";
import type { Context } from "../../context/context.js";
import { ACQUIRE_OPTIONS } from "../../types/acquire.js";
import { rejectUnknownOptions } from "../../types/known-options.js";
import { type LimitRequest, requestOf } from "../../limits/limit-request.js";
import type { Line, Waiter } from "../../context/line.js";

type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/**
 * @returns `acquire` of a limiter, which has a line for each key whose callers wait.
 */
export function createAcquire(context: Context, sleep: Sleep) {
  const { lines } = context;

  function lineOf({ limit }: LimitRequest): Line {
    // A shadow denies no call, and lets no call wait for another.
    if (limit.config.shadow) return new AcquireLine(context, sleep, () => {});
    const key = rowKey(limit.rows[0]);
    const known = lines?.get(key);
    if (known !== undefined) return known;
    const line = new AcquireLine(context, sleep, () => {
      // A line may end a second time, when tokens have come back. Another line may be here by then.
      if (lines?.get(key) === line) lines.delete(key);
    });
    lines?.set(key, line);
    return line;
  }

  /**
   * @throws RateLimitError when the wait would be longer than `maxWait`; nothing was consumed.
   * @throws RateLimitConfigError when `maxWait` is not a number, or an option is unknown.
   * @throws the signal's reason when the signal is aborted. If the store fails then, tokens that were
   * reserved stay taken.
   */
  return async (name: string, options: AcquireOptions = {}): Promise<RateLimitResult> => {
    rejectUnknownOptions(options, ACQUIRE_OPTIONS, "acquire()");
    const { signal, maxWait: given = Infinity, ...others } = options;
    signal?.throwIfAborted();
    if (Number.isNaN(given)) throw new RateLimitConfigError("maxWait", given, "a number of ms");
    // A negative wait is the time until a deadline that has passed.
    const maxWait = Math.max(0, given);
    const request = requestOf(context, name, { ...others, reserve: true }, maxWait);
    const line = lineOf(request);
    const until = context.environment.clock() + maxWait;
    const over = new AbortController();
    try {
      return await new Promise<RateLimitResult>((resolve, reject) => {
        const waiter: Waiter = { name, request, options: others, until, resolve, reject };
        const onAbort = () => line.leave(waiter, signal!.reason);
        signal?.addEventListener("abort", onAbort, { once: true, signal: over.signal });
        line.join(waiter);
        if (maxWait === Infinity) return;
        sleep(maxWait, over.signal).then(
          () => line.expire(waiter),
          () => {},
        );
      });
    } finally {
      over.abort();
    }
  };
}
