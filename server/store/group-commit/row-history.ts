/**
 * Remembers rows from which the plain path could not take. Their next calls are read and decided
 * at once, so that a denial costs one read: no lock, no second statement.
 *
 * It only chooses the way. A row that is wrongly in here, or wrongly not, costs a round trip.
 */

/** Some 100 bytes each; those that were refused longest ago are forgotten first. */
const REMEMBERED = 10_000;

export interface RowHistory {
  isSpent(id: string): boolean;
  refused(id: string): void;
  written(id: string): void;
}

export function createRowHistory(remembered: number = REMEMBERED): RowHistory {
  const spent = new Set<string>();
  return {
    isSpent: (id) => spent.has(id),
    written: (id) => void spent.delete(id),
    refused(id) {
      spent.delete(id);
      spent.add(id);
      if (spent.size > remembered) spent.delete(spent.keys().next().value!);
    },
  };
}
