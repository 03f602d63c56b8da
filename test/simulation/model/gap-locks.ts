/**
 * The records of an index of InnoDB, and the locks of the gaps between them. A lock is kept as the
 * span that it covers, so it need not be divided when a record comes into its gap.
 */

/** What stands beyond all records. No name begins with it. */
const BEYOND = "\uFFFF";

interface Span<TOwner> {
  owner: TOwner;
  /** The records at both ends, which are not in it. */
  low: string;
  high: string;
}

export class GapLocks<TOwner extends object> {
  /** Those that exist, or may: inserted and not committed, or deleted and not committed. */
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

  /** @param heirs they had locked the record, or waited for it, and lock the gap from now on. */
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

  /** Locks the gap that a missing record would be in. Two owners can have the same one. */
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

  /** Those whose locks keep a record from being inserted by another. */
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

  /** Where the record is, or would be. */
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
