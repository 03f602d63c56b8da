/**
 * Limits in the memory of this process: for tests, for a single process, and for limits that may be
 * lost in a restart. Every decision runs within one tick, so each one is atomic.
 */
import type { Row } from "../../core/rows/row.js";
import { applyAtOnce, resultsOf, type RowsAtOnce } from "./at-once.js";
import { memoryOverrides } from "./memory-overrides.js";
import { firstRows, MemoryRows } from "./memory-rows.js";
import { byTime } from "./earliest-by-list.js";
import { retryConflicts, WriteConflictError } from "./retry-conflicts.js";
import {
  firstWith,
  type Call,
  type Decision,
  type JoinedStore,
  expiredError,
  type FoundRow,
  type RateLimitStore,
  rowKey,
  type RowId,
} from "./store.js";
import { TopSums } from "./top-sums.js";

/**
 * The default of `maxRows`. With some 500 bytes a row, so many rows are a quarter of a heap of 512 MB.
 */
const DEFAULT_MAX_ROWS = 250_000;

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The most rows held, a whole number of at least 1. A row takes some 500 bytes of the heap. Beyond
   * `maxRows`, rows that are full again are dropped first, which changes nothing. If no row is full,
   * the least used rows are dropped, and their limits are full again too early: these limits let calls
   * through that they should deny. So choose `maxRows` above the number of rows that are not full at
   * any one time.
   * @default 250_000
   */
  maxRows?: number;
}

/** The states that a transaction of this store has read and written so far. */
export interface MemoryTransaction {
  /** The states that were read, by `rowKey`; `null` for a row that does not exist. */
  readonly was: Map<string, Row | null>;
  /** The states to write when the transaction commits, by `rowKey`; `null` deletes the row. */
  readonly next: Map<string, Row | null>;
  /** The rows that were written, by `rowKey`. */
  readonly rows: Map<string, RowId>;
}

/**
 * A store in the memory of this process, for tests, and for applications of one process that may forget
 * their limits when it restarts. The store's transactions cover limits, and no other data.
 *
 * @throws RangeError when `maxRows` is not a whole number of at least 1.
 *
 * @example
 * import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";
 *
 * const inMemory = createRateLimiter({
 *   store: memoryStore(),
 *   limits: { sendMessage: { kind: "fixed window", rate: 5, period: MINUTE } },
 * });
 */
export function memoryStore(options: MemoryStoreOptions = {}): RateLimitStore<MemoryTransaction> {
  const { maxRows = DEFAULT_MAX_ROWS } = options;
  if (!Number.isSafeInteger(maxRows) || maxRows < 1) {
    throw new RangeError(`maxRows must be a whole number above 0, got ${maxRows}`);
  }
  const rows = new MemoryRows(maxRows);
  const overrides = memoryOverrides();
  const using = (tx: MemoryTransaction) => join(tx, rows);

  return {
    async apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      if (call?.expired) throw expiredError();
      return resultsOf(applyAtOnce(decisions, rows));
    },
    overrides: overrides.table,
    using,
    transaction(body, { retryFor = 10_000 }) {
      const isConflict = (error: unknown) => error instanceof WriteConflictError;
      return retryConflicts(
        async () => {
          const tx: MemoryTransaction = { was: new Map(), next: new Map(), rows: new Map() };
          const result = await body(tx, using(tx));
          commit(tx, rows);
          overrides.commit(tx);
          return result;
        },
        { retryFor, isConflict },
      );
    },
    async list(name, given, count, prefix = "") {
      const page = rows.list(name, given ?? firstWith(name, prefix), count);
      return page.filter(({ key }) => key.startsWith(prefix));
    },
    async earliest(name, prefix, count) {
      return byTime(foundRows(rows.of(name), rows, prefix), count);
    },
    async sums(name, terms) {
      const sums = new TopSums(terms);
      for (const row of rows.of(name)) sums.add({ row, state: rows.get(row)! });
      return sums.found();
    },
    names: () => rows.names(),
    prune: (terms) => rows.prune(terms),
  };
}

/** The limits inside a transaction. */
function join(tx: MemoryTransaction, rows: MemoryRows): JoinedStore {
  const inside: RowsAtOnce = {
    get(row) {
      const id = rowKey(row);
      if (!tx.was.has(id)) tx.was.set(id, rows.stateOf(id));
      return (tx.next.has(id) ? tx.next : tx.was).get(id)!;
    },
    put(row, next) {
      tx.rows.set(rowKey(row), row);
      tx.next.set(rowKey(row), next);
    },
  };
  const writtenOf = (name: string) => [...tx.rows.values()].filter((row) => row.name === name);
  return {
    async apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
      return resultsOf(applyAtOnce(decisions, inside));
    },
    async list(name, given, count, prefix = "") {
      const own = writtenOf(name).filter((row) => inside.get(row) !== null);
      const others = [...rows.of(name)].filter((row) => !tx.next.has(rowKey(row)));
      const page = firstRows([...own, ...others], given ?? firstWith(name, prefix), count);
      return page.filter(({ key }) => key.startsWith(prefix));
    },
    async earliest(name, prefix, count) {
      const others = [...rows.of(name)].filter((row) => !tx.next.has(rowKey(row)));
      return byTime(foundRows([...writtenOf(name), ...others], inside, prefix), count);
    },
  };
}

/** @throws WriteConflictError where a row that the transaction has read is another one now. */
function commit({ was, next, rows: written }: MemoryTransaction, rows: MemoryRows): void {
  for (const [id, state] of was) {
    if (rows.stateOf(id) !== state) throw new WriteConflictError();
  }
  for (const [id, state] of next) rows.put(written.get(id)!, state);
}

function foundRows(
  ids: Iterable<RowId>,
  rows: Pick<RowsAtOnce, "get">,
  prefix: string,
): FoundRow[] {
  return [...ids].flatMap((row) => {
    const state = row.key.startsWith(prefix) ? rows.get(row) : null;
    return state === null ? [] : [{ row, state }];
  });
}
