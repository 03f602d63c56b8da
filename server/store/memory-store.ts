/**
 * Limits kept in this process: for tests, for a single process, for limits that a restart may
 * forget. Everything happens within one tick, so nothing can come between.
 */
import type { RateLimitState } from "../../core/calculate.js";
import { plan } from "./plan.js";
import { type Call, type Decision, expiredError, type RateLimitStore, rowKey } from "./store.js";

/** Rows are dropped oldest first past this many, unless `maxRows` says otherwise. */
const DEFAULT_MAX_ROWS = 1_000_000;

export interface MemoryStoreOptions {
  /**
   * The most rows held. Past it, the rows written longest ago are forgotten, which makes their
   * limits full again; so choose it well above the number of keys active within one period.
   * Whole, at least 1.
   * @default 1_000_000
   */
  maxRows?: number;
}

export function memoryStore(options: MemoryStoreOptions = {}): RateLimitStore {
  const { maxRows = DEFAULT_MAX_ROWS } = options;
  if (!Number.isSafeInteger(maxRows) || maxRows < 1) {
    throw new RangeError(`maxRows must be a whole number above 0, got ${maxRows}`);
  }
  const rows = new Map<string, RateLimitState>();

  const put = (id: string, next: RateLimitState | null) => {
    // Deleted first, so that the map's order is that of the last write.
    rows.delete(id);
    if (next === null) return;
    rows.set(id, next);
    if (rows.size > maxRows) rows.delete(rows.keys().next().value!);
  };

  return {
    async apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      if (call?.expired) throw expiredError();
      const { settled, groups } = plan(decisions, rows);
      const failed = settled.find((outcome) => !outcome.ok);
      if (failed !== undefined) throw failed.error;
      for (const { writes } of groups) {
        for (const { row, next } of writes) put(rowKey(row), next);
      }
      return settled.map((outcome) => (outcome as { result: TResult }).result);
    },
  };
}
