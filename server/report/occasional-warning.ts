/**
 * Warns of problems that can happen at every call, such as a figure that a provider leaves out: once in
 * ten minutes per subject. The next warning has the number of the warnings that were left out.
 */
import { MINUTE } from "../../core/durations.js";
import type { RateLimitLogger } from "./logger.js";

const INTERVAL = 10 * MINUTE;
/** Calls with a `config` may bring any number of names of limits. */
const MAX_SUBJECTS = 1000;

/** @param subject warnings of one subject are counted together. */
export type Warn = (subject: string, message: string) => void;

/** @param clock monotonic, ms. */
export function createOccasionalWarning(
  logger: RateLimitLogger,
  clock: () => number = () => performance.now(),
): Warn {
  const last = new Map<string, { at: number; others: number }>();
  return (subject, message) => {
    const now = clock();
    const before = last.get(subject);
    if (before !== undefined && now - before.at < INTERVAL) {
      before.others++;
      return;
    }
    last.delete(subject);
    if (last.size >= MAX_SUBJECTS) last.delete(last.keys().next().value!);
    last.set(subject, { at: now, others: 0 });
    const others = before?.others
      ? ` It was so ${before.others} more times since the last message.`
      : "";
    logger.warn(
      `trpc-rate-limit: ${message}. This is reported once in ${INTERVAL / MINUTE} minutes.${others}`,
    );
  };
}
