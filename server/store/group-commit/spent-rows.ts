/**
 * The rows without tokens: the plain path could not take from them, or took their last tokens. The next
 * calls on such a row go the general way at once, so that a denial costs one read: no lock, no second
 * statement.
 *
 * An entry only chooses the way of a call. A wrong entry, or a missing one, costs a round trip.
 */

/** The most rows remembered, some 100 bytes each. The oldest entries are dropped first. */
const REMEMBERED = 10_000;

/**
 * By `rowKey`: when the row will have tokens again, epoch ms, if no other call changes it. `Infinity`
 * where that is not known.
 */
export class SpentRows extends Map<string, number> {
  constructor(private readonly remembered: number = REMEMBERED) {
    super();
  }

  override set(id: string, until: number): this {
    super.delete(id);
    super.set(id, until);
    if (this.size > this.remembered) super.delete(this.keys().next().value!);
    return this;
  }
}
