/**
 * Prunes now and then, in one process at a time. A turn is a call on a limit of its own: one call per
 * interval, in a row of the same store. So turns are as exact as every other limit, and need neither a
 * table nor a lock of their own.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import { MINUTE } from "../../../core/durations.js";
import { RESERVED_PREFIX } from "../../../core/rows/side-rows.js";
import type { AutoPruneOptions } from "../types/limiter-options.js";
import type { WaitUntil } from "../../report/wait-until.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { startTimer } from "../../timers/timer.js";

/** The name of the row by which the processes get their turns. */
export const CLAIM = `${RESERVED_PREFIX}autoPrune`;

const DEFAULT_EVERY = 5 * MINUTE;

/** When the next turn is due, by the monotonic clock, for limiters that have no timer. */
const dueAt = new Map<string, number>();

export interface AutoPruneContext {
  /** Takes the one call of this interval. Resolves with whether the call was still there. */
  claim(every: number): Promise<boolean>;
  prune(options: AutoPruneOptions): Promise<unknown>;
  failed(error: unknown): void;
  /** Takes the turns of a limiter that has no timer. */
  waitUntil: WaitUntil | undefined;
  /** The names of the limits, for the turns of a limiter that may live for one request only. */
  names: readonly string[];
  /**
   * Between 0 and 1. This number delays the first turn, so that processes that start together do not ask
   * together.
   */
  random(): number;
}

/**
 * @returns a function to call after each call of the limiter; `undefined` if a timer does the work.
 * @throws RateLimitConfigError when `every` is not a whole number of ms, or there can be no timer
 * and `waitUntil` is missing.
 */
export function startAutoPrune(
  option: true | AutoPruneOptions,
  { claim, prune, failed, random, waitUntil, names }: AutoPruneContext,
): (() => void) | undefined {
  const options = option === true ? {} : option;
  const { every = DEFAULT_EVERY, signal } = options;
  if (!Number.isSafeInteger(every) || every < 1) {
    throw new RateLimitConfigError("autoPrune.every", every, "a whole number of ms, at least 1");
  }

  async function runOnce(): Promise<void> {
    try {
      if (await claim(every)) await prune(options);
    } catch (error) {
      failed(error);
    }
  }

  if (waitUntil !== undefined) {
    const id = JSON.stringify([every, ...names]);
    return () => {
      const now = performance.now();
      if (signal?.aborted || now < (dueAt.get(id) ?? -Infinity)) return;
      dueAt.set(id, now + every);
      waitUntil(runOnce());
    };
  }
  if (requestsOwnIo()) {
    throw new RateLimitConfigError("autoPrune", option, { message: NO_TIMERS });
  }

  async function run(): Promise<void> {
    if (signal?.aborted) return;
    await runOnce();
    // Schedule the next turn only now, so that no turn begins while a long turn goes on.
    schedule(every);
  }

  function schedule(ms: number): void {
    // The timer does not keep the process alive.
    startTimer(() => void run(), ms).unref();
  }

  schedule(every * random());
  return undefined;
}

const NO_TIMERS =
  "autoPrune needs waitUntil on Cloudflare Workers, where no timer outlives its request; give " +
  'createRateLimiter the waitUntil of "cloudflare:workers", or call limiter.prune() from a Cron Trigger';
