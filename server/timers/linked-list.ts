/**
 * A list of things that wait under one timer, in the order in which they came. An item knows its own
 * neighbours, so it leaves in constant time, and the list makes no object.
 *
 * Measured and rejected: a `Set`, which rebuilds its table again and again (less than half of the
 * throughput for calls that wait; 5 of 79 µs of a lone call for statements in flight).
 */
export interface Linked<TItem> {
  /** The neighbours in the list. */
  before: TItem | undefined;
  after: TItem | undefined;
}

export class LinkedList<TItem extends Linked<TItem>> {
  oldest: TItem | undefined;
  #newest: TItem | undefined;

  append(item: TItem): void {
    item.before = this.#newest;
    item.after = undefined;
    if (this.#newest === undefined) this.oldest = item;
    else this.#newest.after = item;
    this.#newest = item;
  }

  has(item: TItem): boolean {
    return item.before !== undefined || this.oldest === item;
  }

  /** Returns whether the item was in the list. */
  remove(item: TItem): boolean {
    if (!this.has(item)) return false;
    const { before, after } = item;
    if (before === undefined) this.oldest = after;
    else before.after = after;
    if (after === undefined) this.#newest = before;
    else after.before = before;
    // Unlink the item, or an item that is not yet collected would keep all later ones in memory.
    item.before = item.after = undefined;
    return true;
  }
}
