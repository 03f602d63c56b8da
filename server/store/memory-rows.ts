/** The rows of a memory store, and the order in which they are dropped and listed. */
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { RESERVED_PREFIX } from "../../core/rows/side-rows.js";
import type { RowsAtOnce } from "./at-once.js";
import { EvictionQueue, type MemoryRow } from "./eviction-queue.js";
import { isFullRow } from "./is-full-row.js";
import { nextTick } from "../timers/next-tick.js";
import { type PruneTerms, rowKey, type RowId } from "./store.js";

/** Rows that `prune` looks at before it lets other work of this process run. */
const SLICE = 1000;

export class MemoryRows implements RowsAtOnce {
  /** By `rowKey`. */
  readonly #entries = new Map<string, MemoryRow>();
  readonly #evictions = new EvictionQueue();
  /** The latest time that was written. A row that is full at this time is not needed. */
  #latest = -Infinity;
  /**
   * The name that was listed last, until a row comes or goes. `rows` are all rows of that name, in
   * order.
   */
  #listed: { name: string; rows?: RowId[] } | undefined;

  /** @param maxRows the most rows held. */
  constructor(private readonly maxRows: number) {}

  get(row: RowId): Row | null {
    return this.stateOf(rowKey(row));
  }

  /** @param id a `rowKey`. */
  stateOf(id: string): Row | null {
    return this.#entries.get(id)?.state ?? null;
  }

  put(row: RowId, next: Row | null): void {
    const id = rowKey(row);
    const existing = this.#entries.get(id);
    if (next === null) {
      if (existing !== undefined) this.#drop(existing);
      return;
    }
    // Closed rows and side rows may have a `ts` in the future: the row that counts closings has one.
    if (!row.name.startsWith(RESERVED_PREFIX) && next.used !== CLOSED) {
      this.#latest = Math.max(this.#latest, next.ts);
    }
    if (existing !== undefined) {
      existing.row = row;
      existing.state = next;
      return;
    }
    if (this.#entries.size === this.maxRows) this.#drop(this.#evictions.next(this.#latest));
    const entry = { id, row, state: next, second: 0, level: 0 };
    this.#entries.set(id, entry);
    this.#evictions.add(entry);
    this.#listed = undefined;
  }

  *of(name: string): Generator<RowId, void, undefined> {
    for (const { row } of this.#entries.values()) if (row.name === name) yield row;
  }

  /** At most `count` rows of a name after `after`, in order. */
  list(name: string, after: RowId | undefined, count: number): RowId[] {
    if (this.#listed?.name !== name) {
      this.#listed = { name };
      return firstRows(this.of(name), after, count);
    }
    // Sorting all rows of the name pays from the second page on.
    const all = (this.#listed.rows ??= [...this.of(name)].sort(compareRows));
    const start = after === undefined ? 0 : firstAfter(all, after);
    return all.slice(start, start + count);
  }

  async *names(): AsyncGenerator<string, void, undefined> {
    const names = new Set<string>();
    // Leave out the rows that come meanwhile, or the loop might never end.
    let remaining = this.#entries.size;
    for (const { row } of this.#entries.values()) {
      names.add(row.name);
      remaining--;
      if (remaining === 0) break;
      if (remaining % SLICE === 0) await nextTick();
    }
    yield* names;
  }

  async *prune({ configs, before }: PruneTerms): AsyncGenerator<number, void, undefined> {
    // Leave out the rows that come meanwhile, or the loop might never end.
    let remaining = this.#entries.size;
    let dropped = 0;
    for (const entry of this.#entries.values()) {
      const all = configs.get(entry.row.name);
      if (all !== undefined && isFullRow(entry.row, entry.state, all, before)) {
        this.#drop(entry);
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
  }

  #drop(entry: MemoryRow): void {
    this.#entries.delete(entry.id);
    this.#evictions.remove(entry);
    this.#listed = undefined;
  }
}

function compareRows(a: RowId, b: RowId): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.shard - b.shard;
}

/** The first `count` rows after `after`, in order, without sorting the others. */
export function firstRows(rows: Iterable<RowId>, after: RowId | undefined, count: number): RowId[] {
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
