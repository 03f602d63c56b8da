/** The usage that this process has counted and not written yet, per limit, span and key. */
import { MINUTE } from "../../../core/durations.js";
import {
  addUsage,
  type Counts,
  noCounts,
  spanAt,
  type UsageTerms,
} from "../../../core/rows/usage.js";
import type { Usage } from "../../../core/usage.js";
import type { Span } from "../claims/counters.js";

/** The most sums of keys that are kept while the store is down; some 200 bytes each. */
const MOST_SUMS = 100_000;

/** How long after the end of its span a sum still counts in it, ms; see `moveLate`. */
export const LATE = MINUTE;

/** The key of the sum of all keys. The bucket that all callers share has the same stored key. */
export const ALL_KEYS = "";

export interface SpanSums extends Span {
  /** By stored key. */
  readonly keys: Map<string, Counts>;
}

export class UsageSums {
  /** The sums of all limits and spans. */
  size = 0;
  /** The spans of each limit: nearly always the present span alone. */
  #byName = new Map<string, SpanSums[]>();

  /** @param mostSums for tests. */
  constructor(private readonly mostSums: number = MOST_SUMS) {}

  /**
   * Adds usage to the sums of a key and of all keys.
   *
   * @returns whether there was room for the key. If not, only the sum of all keys has the usage.
   */
  add(name: string, terms: UsageTerms, start: number, key: string, usage: Partial<Usage>): boolean {
    const span = this.#spanOf({ name, terms, start });
    addUsage(this.#countsOf(span, ALL_KEYS)!, usage);
    if (key === ALL_KEYS) return true;
    const counts = this.#countsOf(span, key);
    if (counts === undefined) return false;
    addUsage(counts, usage);
    return true;
  }

  /** Adds usage to the sum of all keys alone. */
  addToAll(name: string, terms: UsageTerms, start: number, usage: Partial<Usage>): void {
    this.add(name, terms, start, ALL_KEYS, usage);
  }

  /**
   * Takes back a sum that could not be written.
   *
   * @returns whether there was room for the sum.
   */
  putBack(of: Span, key: string, shard: number, count: number): boolean {
    const counts = this.#countsOf(this.#spanOf(of), key);
    if (counts === undefined) return false;
    counts[shard]! += count;
    return true;
  }

  /**
   * Moves sums that come late into the present span, for limits whose spans are told by `usageChanges`. So
   * a span that was told never changes. A sum is late if the store was down, or this process stood still.
   */
  moveLate(now: number): void {
    for (const [name, spans] of this.#byName) {
      const isLate = ({ terms, start }: SpanSums) =>
        terms.changes && start + terms.every + LATE <= now;
      for (const { terms, keys } of spans.filter(isLate)) {
        const span = this.#spanOf({ name, terms, start: spanAt(terms.every, now) });
        for (const [key, counts] of keys) {
          const sums = span.keys.get(key);
          if (sums === undefined) span.keys.set(key, counts);
          else {
            this.size--;
            for (const [shard, count] of counts.entries()) sums[shard]! += count;
          }
        }
      }
      const rest = this.#byName.get(name)!.filter((span) => !isLate(span));
      this.#byName.set(name, rest);
    }
  }

  /** Hands all sums over, and begins anew. */
  take(): SpanSums[] {
    const all = [...this.#byName.values()].flat();
    this.#byName = new Map();
    this.size = 0;
    return all;
  }

  forget(key: string): void {
    for (const spans of this.#byName.values()) {
      for (const { keys } of spans) if (keys.delete(key)) this.size--;
    }
  }

  #spanOf({ name, terms, start }: Span): SpanSums {
    let spans = this.#byName.get(name);
    if (spans === undefined) this.#byName.set(name, (spans = []));
    let span = spans.find((each) => each.start === start);
    if (span === undefined) spans.push((span = { name, terms, start, keys: new Map() }));
    return span;
  }

  #countsOf({ keys }: SpanSums, key: string): Counts | undefined {
    let counts = keys.get(key);
    if (counts !== undefined) return counts;
    if (this.size >= this.mostSums && key !== ALL_KEYS) return undefined;
    this.size++;
    keys.set(key, (counts = noCounts()));
    return counts;
  }
}
