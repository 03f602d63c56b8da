/** Reports batches to the listeners of a store. Without listeners, it makes no events. */
import type { BatchEvent, BatchListener } from "../batch-event.js";
import type { Batch, Outcome } from "./batch.js";

export interface BatchReports {
  subscribe(listener: BatchListener): () => void;
  /** @param duration ms from the dispatch of the batch to its answer. */
  answered(batch: Batch, outcome: Outcome, duration: number): void;
  /**
   * The table cannot be used, so no batch was dispatched, and all waiting calls were rejected.
   *
   * @param duration ms that the check of the table took.
   */
  unprepared(calls: number, duration: number): void;
}

export function createBatchReports(): BatchReports {
  const listeners = new Set<BatchListener>();
  const report = (event: BatchEvent) => {
    for (const listener of listeners) listener(event);
  };
  return {
    subscribe(listener) {
      // A function that subscribes twice is called twice.
      const own: BatchListener = (event) => listener(event);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    answered({ way, jobs, ids }, { conflicts, failed }, duration) {
      if (listeners.size === 0) return;
      report({ way: way.name, calls: jobs.length, rows: ids.length, duration, conflicts, failed });
    },
    unprepared(calls, duration) {
      if (listeners.size === 0) return;
      report({ way: "read", calls, rows: 0, duration, conflicts: 0, failed: true });
    },
  };
}
