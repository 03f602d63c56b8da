/** Cleans up when this process ends early. */
import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs `clean` if this process ends before the returned function was called, also by a signal. The last
 * `clean` runs first.
 */
export function onEnd(clean: () => void): () => void {
  // A signal alone would end the process without the event "exit".
  const end = (signal: (typeof SIGNALS)[number]) => process.exit(128 + constants.signals[signal]);
  process.prependListener("exit", clean);
  for (const signal of SIGNALS) process.on(signal, end);
  return () => {
    process.off("exit", clean);
    for (const signal of SIGNALS) process.off(signal, end);
  };
}
