/**
 * The records of an index of InnoDB, and the locks of the gaps between the records. A lock is kept as the
 * span that it covers, so the lock need not be divided when a record is inserted into its gap.
 */

/** A text that stands after all records. No name begins with it. */
const BEYOND = "\uFFFF";

interface Span<TOwner> {
  owner: TOwner;
  /** The records at both ends, which are not part of the span. */
  low: string;
  high: string;
}

export class GapLocks<TOwner extends object> {
  /** The records that exist or may exist: inserted but not committed, or deleted but not committed. */
  #records: string[] = [];
  #spans: Span<TOwner>[] = [];

  get count(): number {
    return this.#spans.length;
  }

  /** Starts with these records, and no locks. */
  begin(records: Iterable<string>): void {
    this.#records = [...records].sort();
    this.#spans = [];
  }

  has(id: string): boolean {
    return this.#records[this.#indexOf(id)] === id;
  }

  addRecord(id: string): void {
    if (!this.has(id)) this.#records.splice(this.#indexOf(id), 0, id);
  }

  /**
   * @param heirs the owners that had locked the record, or waited for it. These owners lock the gap from
   *   now on.
   */
  removeRecord(id: string, heirs: readonly TOwner[]): void {
    if (!this.has(id)) return;
    this.#records.splice(this.#indexOf(id), 1);
    const { low, high } = this.#around(id);
    for (const span of this.#spans) {
      if (span.high === id) span.high = high;
      if (span.low === id) span.low = low;
    }
    for (const owner of heirs) this.#spans.push({ owner, low, high });
  }

  /** Locks the gap in which a missing record would be. Two owners can lock the same gap. */
  lock(owner: TOwner, id: string): void {
    this.#add(owner, this.#around(id));
  }

  /** Locks the gap behind a record. */
  lockBehind(owner: TOwner, id: string): void {
    this.#add(owner, { low: id, high: this.#around(id).high });
  }

  #add(owner: TOwner, { low, high }: { low: string; high: string }): void {
    const isHeld = this.#spans.some(
      (span) => span.owner === owner && span.low <= low && span.high >= high,
    );
    if (!isHeld) this.#spans.push({ owner, low, high });
  }

  /** The other owners whose locks prevent the inserter from inserting the record. */
  holdersAt(id: string, inserter: TOwner): TOwner[] {
    return this.#spans
      .filter(({ owner, low, high }) => owner !== inserter && low < id && id < high)
      .map(({ owner }) => owner);
  }

  holds(owner: TOwner): boolean {
    return this.#spans.some((span) => span.owner === owner);
  }

  release(owner: TOwner): void {
    this.#spans = this.#spans.filter((span) => span.owner !== owner);
  }

  #around(id: string): { low: string; high: string } {
    const index = this.#indexOf(id);
    const isThere = this.#records[index] === id;
    return {
      low: this.#records[index - 1] ?? "",
      high: this.#records[isThere ? index + 1 : index] ?? BEYOND,
    };
  }

  /** The index of the record, or the index where it would be. */
  #indexOf(id: string): number {
    let [low, high] = [0, this.#records.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#records[middle]! < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
