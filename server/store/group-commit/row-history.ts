/**
 * Remembers the rows without tokens: the plain path could not take from them, or took the last
 * ones. Their next calls go the general way at once, so that a denial costs one read: no lock, no
 * second statement.
 *
 * It only chooses the way of a call. A wrong entry, or a missing one, costs a round trip.
 */

/** The most rows remembered, some 100 bytes each. The oldest entries are dropped first. */
const REMEMBERED = 10_000;

export interface RowHistory {
  /** When the row will have tokens again, epoch ms; `undefined` if it has some, as far as is known. */
  spentUntil(id: string): number | undefined;
  /** @param until `Infinity` if that is not known. Another call may change it. */
  spent(id: string, until: number): void;
  written(id: string): void;
}

export function createRowHistory(remembered: number = REMEMBERED): RowHistory {
  const rows = new Map<string, number>();
  return {
    spentUntil: (id) => rows.get(id),
    written: (id) => void rows.delete(id),
    spent(id, until) {
      rows.delete(id);
      rows.set(id, until);
      if (rows.size > remembered) rows.delete(rows.keys().next().value!);
    },
  };
}
