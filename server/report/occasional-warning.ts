/**
 * Warns of what can happen at every call, such as a figure that a provider leaves out: once in ten minutes
 * per subject, with the number of the others since then.
 */
import { MINUTE } from "../../core/durations.js";
import type { RateLimitLogger } from "./logger.js";

const INTERVAL = 10 * MINUTE;
/** Names of limits come with calls that have a `config`, and there may be any number of them. */
const MAX_SUBJECTS = 1000;

/** @param subject what is counted together. */
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
