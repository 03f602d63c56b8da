/** Reports batches to the listeners of a store. Without listeners, no events are made. */
import type { BatchEvent, BatchListener } from "../batch-event.js";
import type { Batch, Outcome } from "./batch.js";

export class BatchReports {
  readonly listeners = new Set<BatchListener>();

  readonly subscribe = (listener: BatchListener): (() => void) => {
    // A function that subscribes twice is called twice.
    const own: BatchListener = (event) => listener(event);
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  };

  /** @param duration ms from the dispatch of the batch to its answer. */
  answered({ way, jobs, ids }: Batch, { conflicts, failed }: Outcome, duration: number): void {
    const [calls, rows] = [jobs.length, ids.length];
    this.report({ way: way.name, calls, rows, duration, conflicts, failed });
  }

  /**
   * The table cannot be used, so no batch was dispatched, and all waiting calls were rejected.
   *
   * @param duration ms that the check of the table took.
   */
  unprepared(calls: number, duration: number): void {
    this.report({ way: "read", calls, rows: 0, duration, conflicts: 0, failed: true });
  }

  report(event: BatchEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
