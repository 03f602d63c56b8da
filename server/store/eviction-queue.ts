/**
 * The choice of the row that a full memory store drops. A row that is full again can go without a loss.
 * If no row is full, the least used row goes: a flood of keys with a few tokens used then cannot push
 * out a row that denies its calls.
 */
import { isCredits } from "../../core/rows/credits.js";
import { fullAt, usageOf } from "../../core/rows/reading.js";
import type { Row } from "../../core/rows/row.js";
import type { RowId } from "./store.js";

/** A row of the memory store. */
export interface MemoryRow {
  readonly id: string;
  row: RowId;
  state: Row;
  /** The second in which the row becomes full, as computed at the last look at the row. */
  second: number;
  /** How much of the row was used at the last look: 0 to `LEVELS`, or `UNKNOWN`. */
  level: number;
}

/** Steps from an unused row to an exhausted one. */
const LEVELS = 16;
/**
 * The level of credits that are left, and of rows without a config. Such rows are never known to be
 * full, and are dropped last.
 */
const UNKNOWN = LEVELS + 1;
/** The most rows that one call looks at. */
const MAX_LOOKS = 1000;

/**
 * A write to a row costs the queue nothing. When the turn of a row comes, the queue looks at the row's
 * state again, and moves the row if it was used meanwhile. Measured and rejected: moving the row at
 * each write (half of the memory store's throughput).
 */
export class EvictionQueue {
  private readonly seconds = new Map<number, Set<MemoryRow>>();
  /**
   * The keys of `seconds`, as a binary heap: the earliest second is first. Some seconds of the heap may
   * be gone from `seconds`.
   */
  private heap: number[] = [];
  private readonly levels = Array.from({ length: UNKNOWN + 1 }, () => new Set<MemoryRow>());

  add(entry: MemoryRow): void {
    entry.second = secondOf(entry);
    entry.level = levelOf(entry);
    this.addToSecond(entry);
    this.levels[entry.level]!.add(entry);
  }

  remove(entry: MemoryRow): void {
    this.removeFromSecond(entry);
    this.levels[entry.level]!.delete(entry);
  }

  /**
   * The row to drop: a full one, or the least used one.
   *
   * @param now the latest time that was written to any row, epoch ms.
   */
  next(now: number): MemoryRow {
    return this.firstFull(now) ?? this.leastUsed();
  }

  private firstFull(now: number): MemoryRow | undefined {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      while (this.heap.length > 0 && !this.seconds.has(this.heap[0]!)) this.popHeap();
      const [earliest = Infinity] = this.heap;
      if (earliest * 1000 > now) return undefined;
      const entry = first(this.seconds.get(earliest)!);
      const second = secondOf(entry);
      if (second * 1000 <= now) return entry;
      this.removeFromSecond(entry);
      entry.second = second;
      this.addToSecond(entry);
    }
    return undefined;
  }

  private leastUsed(): MemoryRow {
    for (let looks = 1; ; looks++) {
      const level = this.levels.find(({ size }) => size > 0)!;
      const entry = first(level);
      const used = levelOf(entry);
      if (used <= entry.level || looks === MAX_LOOKS) return entry;
      level.delete(entry);
      entry.level = used;
      this.levels[used]!.add(entry);
    }
  }

  private addToSecond(entry: MemoryRow): void {
    let bucket = this.seconds.get(entry.second);
    if (bucket === undefined) {
      bucket = new Set();
      this.seconds.set(entry.second, bucket);
      this.pushHeap(entry.second);
    }
    bucket.add(entry);
  }

  private removeFromSecond(entry: MemoryRow): void {
    const bucket = this.seconds.get(entry.second);
    bucket?.delete(entry);
    if (bucket?.size !== 0) return;
    this.seconds.delete(entry.second);
    // Rebuild the heap before most of its seconds are gone from `seconds`. A sorted list is a heap.
    if (this.heap.length > 2 * this.seconds.size + LEVELS) {
      this.heap = [...this.seconds.keys()].sort((a, b) => a - b);
    }
  }

  private pushHeap(second: number): void {
    const { heap } = this;
    let at = heap.push(second) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= second) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = second;
  }

  private popHeap(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
      if (child >= heap.length || heap[child]! >= last) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function secondOf({ state, row: { config } }: MemoryRow): number {
  return config === undefined ? Infinity : Math.ceil(fullAt(state, config) / 1000);
}

function levelOf({ state, row: { config } }: MemoryRow): number {
  // Credits were bought, so they are dropped last.
  if (config === undefined || (isCredits(config) && state.used !== 0)) return UNKNOWN;
  return Math.floor(LEVELS * usageOf(state, config));
}

function first<T>(items: ReadonlySet<T>): T {
  for (const item of items) return item;
  throw new RangeError("the set is empty");
}
