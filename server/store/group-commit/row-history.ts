/**
 * Remembers rows from which the plain path could not take, or has taken all. Their next calls are
 * read and decided at once, so that a denial costs one read: no lock, no second statement.
 *
 * It only chooses the way. A row that is wrongly in here, or wrongly not, costs a round trip.
 */

/** Some 100 bytes each; those that were noted longest ago are forgotten first. */
const REMEMBERED = 10_000;

export interface RowHistory {
  isSpent(id: string, clock: () => number): boolean;
  /** @param until when there will be tokens again, epoch ms, if nothing else happens to the row. */
  spent(id: string, until: number): void;
  written(id: string): void;
}

export function createRowHistory(remembered: number = REMEMBERED): RowHistory {
  const rows = new Map<string, number>();
  return {
    isSpent(id, clock) {
      const until = rows.get(id);
      return until !== undefined && (until === Infinity || clock() < until);
    },
    written: (id) => void rows.delete(id),
    spent(id, until) {
      rows.delete(id);
      rows.set(id, until);
      if (rows.size > remembered) rows.delete(rows.keys().next().value!);
    },
  };
}
