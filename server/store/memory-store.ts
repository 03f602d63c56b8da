/**
 * Limits in the memory of this process: for tests, for a single process, and for limits that may be
 * lost in a restart. Every decision runs within one tick, so each one is atomic.
 */
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { RESERVED_PREFIX } from "../../core/rows/side-rows.js";
import { applyAtOnce, resultsOf, type RowsAtOnce } from "./at-once.js";
import { memoryOverrides } from "./memory-overrides.js";
import { byTime } from "./earliest-by-list.js";
import { EvictionQueue, type MemoryRow } from "./eviction-queue.js";
import { isFullRow } from "./is-full-row.js";
import { nextTick } from "../timers/next-tick.js";
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

/** Rows that `prune` looks at before it lets other work of this process run. */
const SLICE = 1000;
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
  const entries = new Map<string, MemoryRow>();
  const evictions = new EvictionQueue();
  const overrides = memoryOverrides();
  /** The latest time that was written. A row that is full at this time is not needed. */
  let latest = -Infinity;
  const stateOf = (id: string): Row | null => entries.get(id)?.state ?? null;
  const rows: RowsAtOnce = {
    get: (row) => stateOf(rowKey(row)),
    put: (row, next) => put(rowKey(row), row, next),
  };
  /**
   * The name that was listed last, until a row comes or goes. `rows` are all rows of that name, in
   * order.
   */
  let listed: { name: string; rows?: RowId[] } | undefined;

  function* rowsOf(name: string): Generator<RowId, void, undefined> {
    for (const { row } of entries.values()) if (row.name === name) yield row;
  }

  function put(id: string, row: RowId, next: Row | null): void {
    const existing = entries.get(id);
    if (next === null) {
      if (existing !== undefined) drop(existing);
      return;
    }
    // Closed rows and side rows may have a `ts` in the future: the row that counts closings has one.
    if (!row.name.startsWith(RESERVED_PREFIX) && next.used !== CLOSED) {
      latest = Math.max(latest, next.ts);
    }
    if (existing !== undefined) {
      existing.row = row;
      existing.state = next;
      return;
    }
    if (entries.size === maxRows) drop(evictions.next(latest));
    const entry = { id, row, state: next, second: 0, level: 0 };
    entries.set(id, entry);
    evictions.add(entry);
    listed = undefined;
  }

  function drop(entry: MemoryRow): void {
    entries.delete(entry.id);
    evictions.remove(entry);
    listed = undefined;
  }

  function using(tx: MemoryTransaction): JoinedStore {
    const inside: RowsAtOnce = {
      get(row) {
        const id = rowKey(row);
        if (!tx.was.has(id)) tx.was.set(id, stateOf(id));
        return (tx.next.has(id) ? tx.next : tx.was).get(id)!;
      },
      put(row, next) {
        tx.rows.set(rowKey(row), row);
        tx.next.set(rowKey(row), next);
      },
    };
    return {
      async apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
        return resultsOf(applyAtOnce(decisions, inside));
      },
      async list(name, given, count, prefix = "") {
        const own = [...tx.rows.values()].filter((row) => row.name === name);
        const others = [...rowsOf(name)].filter((row) => !tx.next.has(rowKey(row)));
        const seen = [...own.filter((row) => inside.get(row) !== null), ...others];
        const page = firstRows(seen, given ?? firstWith(name, prefix), count);
        return page.filter(({ key }) => key.startsWith(prefix));
      },
      async earliest(name, prefix, count) {
        const own = [...tx.rows.values()].filter((row) => row.name === name);
        const others = [...rowsOf(name)].filter((row) => !tx.next.has(rowKey(row)));
        return byTime(foundRows([...own, ...others], inside, prefix), count);
      },
    };
  }

  function commit({ was, next, rows: written }: MemoryTransaction): void {
    for (const [id, state] of was) {
      if (stateOf(id) !== state) throw new WriteConflictError();
    }
    for (const [id, state] of next) put(id, written.get(id)!, state);
  }

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
          commit(tx);
          overrides.commit(tx);
          return result;
        },
        { retryFor, isConflict },
      );
    },
    async list(name, given, count, prefix = "") {
      const after = given ?? firstWith(name, prefix);
      const begins = ({ key }: RowId) => key.startsWith(prefix);
      if (listed?.name !== name) {
        listed = { name };
        return firstRows(rowsOf(name), after, count).filter(begins);
      }
      // Sorting all rows of the name pays from the second page on.
      const all = (listed.rows ??= [...rowsOf(name)].sort(compareRows));
      const start = after === undefined ? 0 : firstAfter(all, after);
      return all.slice(start, start + count).filter(begins);
    },
    async earliest(name, prefix, count) {
      return byTime(foundRows(rowsOf(name), rows, prefix), count);
    },
    async *names() {
      const names = new Set<string>();
      // Leave out the rows that come meanwhile, or the loop might never end.
      let remaining = entries.size;
      for (const { row } of entries.values()) {
        names.add(row.name);
        remaining--;
        if (remaining === 0) break;
        if (remaining % SLICE === 0) await nextTick();
      }
      yield* names;
    },
    async *prune({ configs, before }) {
      // Leave out the rows that come meanwhile, or the loop might never end.
      let remaining = entries.size;
      let dropped = 0;
      for (const entry of entries.values()) {
        const all = configs.get(entry.row.name);
        if (all !== undefined && isFullRow(entry.row, entry.state, all, before)) {
          drop(entry);
          dropped++;
        }
        remaining--;
        if (remaining % SLICE !== 0) continue;
        yield dropped;
        dropped = 0;
        if (remaining === 0) return;
        await nextTick();
      }
      yield dropped;
    },
  };
}

function foundRows(
  ids: Iterable<RowId>,
  { get }: Pick<RowsAtOnce, "get">,
  prefix: string,
): FoundRow[] {
  return [...ids].flatMap((row) => {
    const state = row.key.startsWith(prefix) ? get(row) : null;
    return state === null ? [] : [{ row, state }];
  });
}

function compareRows(a: RowId, b: RowId): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.shard - b.shard;
}

/** The first `count` rows after `after`, in order, without sorting the others. */
function firstRows(rows: Iterable<RowId>, after: RowId | undefined, count: number): RowId[] {
  const first: RowId[] = [];
  for (const row of rows) {
    if (after !== undefined && compareRows(row, after) <= 0) continue;
    if (first.length === count) {
      if (count === 0 || compareRows(row, first[count - 1]!) > 0) continue;
      first.pop();
    }
    first.splice(firstAfter(first, row), 0, row);
  }
  return first;
}

/** The index of the first of these sorted rows that comes after `row`. */
function firstAfter(rows: readonly RowId[], row: RowId): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareRows(rows[middle]!, row) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
