/**
 * Limits in the memory of this process: for tests, for a single process, and for limits that may be
 * lost in a restart. Every decision runs within one tick, so each one is atomic.
 */
import type { RateLimitState } from "../../core/calculate.js";
import { planWrites } from "./plan-writes.js";
import { retryConflicts, WriteConflictError } from "./retry-conflicts.js";
import {
  type Call,
  type Decision,
  expiredError,
  type RateLimitStore,
  rowKey,
  type RowId,
} from "./store.js";

/** The default of `maxRows`. */
const DEFAULT_MAX_ROWS = 1_000_000;

export interface MemoryStoreOptions {
  /**
   * The most rows held: whole, at least 1. If there are more, the rows that were written longest
   * ago are dropped, which makes their limits full again. So choose it well above the number of
   * keys that are active within one period.
   * @default 1_000_000
   */
  maxRows?: number;
}

/** The states that a transaction of this store has read and written so far. */
export interface MemoryTransaction {
  readonly was: Map<string, RateLimitState | null>;
  readonly next: Map<string, RateLimitState | null>;
  /** The rows that were written, by `rowKey`. */
  readonly rows: Map<string, RowId>;
}

export function memoryStore(options: MemoryStoreOptions = {}): RateLimitStore<MemoryTransaction> {
  const { maxRows = DEFAULT_MAX_ROWS } = options;
  if (!Number.isSafeInteger(maxRows) || maxRows < 1) {
    throw new RangeError(`maxRows must be a whole number above 0, got ${maxRows}`);
  }
  const rows = new Map<string, RateLimitState>();
  const ids = new Map<string, RowId>();

  function put(id: string, row: RowId | undefined, next: RateLimitState | null): void {
    // Delete it first, so that the map is in the order of the last writes.
    rows.delete(id);
    if (next === null) {
      ids.delete(id);
      return;
    }
    rows.set(id, next);
    if (row !== undefined) ids.set(id, row);
    if (rows.size <= maxRows) return;
    const oldest = rows.keys().next().value!;
    rows.delete(oldest);
    ids.delete(oldest);
  }

  function using(tx: MemoryTransaction): Pick<RateLimitStore, "apply"> {
    return {
      async apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
        const seen = new Map<string, RateLimitState>();
        for (const row of decisions.flatMap((decision) => decision.rows)) {
          const id = rowKey(row);
          if (!tx.was.has(id)) tx.was.set(id, rows.get(id) ?? null);
          const state = tx.next.has(id) ? tx.next.get(id) : tx.was.get(id);
          if (state) seen.set(id, state);
        }
        return run(decisions, seen, (row, next) => {
          tx.rows.set(rowKey(row), row);
          tx.next.set(rowKey(row), next);
        });
      },
    };
  }

  function commit({ was, next, rows: written }: MemoryTransaction): void {
    for (const [id, state] of was) {
      if ((rows.get(id) ?? null) !== state) throw new WriteConflictError();
    }
    for (const [id, state] of next) put(id, written.get(id), state);
  }

  return {
    async apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      if (call?.expired) throw expiredError();
      return run(decisions, rows, (row, next) => put(rowKey(row), row, next));
    },
    using,
    transaction(body, { retryFor = 10_000 }) {
      const isConflict = (error: unknown) => error instanceof WriteConflictError;
      return retryConflicts(
        async () => {
          const tx: MemoryTransaction = { was: new Map(), next: new Map(), rows: new Map() };
          const result = await body(tx, using(tx));
          commit(tx);
          return result;
        },
        { retryFor, isConflict },
      );
    },
    async list(name, after, count) {
      const named = [...ids.values()].filter((row) => row.name === name).sort(compareRows);
      return named.filter((row) => !after || compareRows(row, after) > 0).slice(0, count);
    },
  };
}

/** Applies a list of decisions to these states. If one of them throws, nothing is written. */
function run<TResult>(
  decisions: readonly Decision<TResult>[],
  states: ReadonlyMap<string, RateLimitState>,
  put: (row: RowId, next: RateLimitState | null) => void,
): TResult[] {
  const { settled, groups } = planWrites(decisions, states);
  const failed = settled.find((outcome) => !outcome.ok);
  if (failed !== undefined) throw failed.error;
  for (const { writes } of groups) for (const { row, next } of writes) put(row, next);
  return settled.map((outcome) => (outcome as { result: TResult }).result);
}

function compareRows(a: RowId, b: RowId): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.shard - b.shard;
}
