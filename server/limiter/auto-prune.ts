/**
 * Prunes now and then, in one process at a time. The claim for a turn is itself a limit: one call
 * per interval, in a row of the same store. So it is as exact as every other limit, and needs
 * neither a table nor a lock of its own.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import { MINUTE } from "../../core/durations.js";
import type { AutoPruneOptions } from "./limiter-options.js";
import { startTimer } from "../timers/timer.js";

/** The name of the row that the processes claim their turns with. */
export const CLAIM = "trpc-rate-limit:autoPrune";

const DEFAULT_EVERY = 5 * MINUTE;

export interface AutoPruneContext {
  /** Takes the one call of this interval. Resolves with whether it was still there. */
  claim(every: number): Promise<boolean>;
  prune(options: AutoPruneOptions): Promise<unknown>;
  failed(error: unknown): void;
  /** Between 0 and 1, so that processes that start together do not claim together. */
  random(): number;
}

/** @throws RateLimitConfigError when `every` is not a whole number of ms. */
export function startAutoPrune(
  option: true | AutoPruneOptions,
  { claim, prune, failed, random }: AutoPruneContext,
): void {
  const options = option === true ? {} : option;
  const { every = DEFAULT_EVERY, signal } = options;
  if (!Number.isSafeInteger(every) || every < 1) {
    throw new RateLimitConfigError("autoPrune.every", every, "a whole number of ms, at least 1");
  }

  async function run(): Promise<void> {
    if (signal?.aborted) return;
    try {
      if (await claim(every)) await prune(options);
    } catch (error) {
      failed(error);
    }
    // Only now, so that one that takes longer than an interval is not joined by another one.
    schedule(every);
  }

  function schedule(ms: number): void {
    // It does not keep the process alive.
    startTimer(() => void run(), ms).unref();
  }

  schedule(every * random());
}
