/** Counts what this process decides, for the part of the page that looks behind the others. */
import type { BatchEvent, DecisionEvent } from "trpc-rate-limit/server";

export interface Statistics {
  granted: Record<string, number>;
  denied: Record<string, number>;
  batches: number;
  calls: number;
  conflicts: number;
}

export function createStatistics() {
  const counts: Statistics = { granted: {}, denied: {}, batches: 0, calls: 0, conflicts: 0 };
  return {
    counts,
    onDecision({ action, name, result }: DecisionEvent): void {
      // A purchase of credits, or a ban, is no call that a limit has granted or denied.
      if (action !== "limit" && action !== "charge") return;
      const of = result.ok ? counts.granted : counts.denied;
      of[name] = (of[name] ?? 0) + 1;
    },
    onBatch({ calls, conflicts }: BatchEvent): void {
      counts.batches++;
      counts.calls += calls;
      counts.conflicts += conflicts;
    },
  };
}
