/**
 * Rows that other processes write, too, so that guarded writes of them fail: first they are tried
 * again at once, then left alone for a while, and in the end locked while deciding.
 */

/** Races lost in a row for one row before it is left alone for a while. */
const LOSSES_AT_ONCE = 2;
/** And before it is locked while deciding, so that the call's turn comes. */
const LOSSES_BEFORE_LOCK = 4;
/** The longest such pause, ms: a few round trips, as many others may be waiting to write. */
const MAX_PAUSE = 8;

export interface Races {
  /** Whether the last race for the row was lost, so that the next may be, too. */
  isContested(id: string): boolean;
  mustLock(id: string): boolean;
  /** Nobody tries for the row any more. */
  forget(id: string): void;
  /**
   * Takes note of how a trip went.
   *
   * @returns the rows that are to rest, and for how many ms: all of them together, with the calls
   * that wait for them, as a pause per call would scatter them over many trips.
   */
  note(ids: Iterable<string>, lost: ReadonlySet<string>): { resting: Set<string>; pause: number };
}

/**
 * @param canLock whether there is another way than to race.
 * @param random between 0 and 1, for the jitter.
 */
export function createRaces(canLock: boolean, random: () => number): Races {
  /** How many races in a row were lost for a row, where any were. */
  const losses = new Map<string, number>();
  const mustLock = (id: string) => canLock && (losses.get(id) ?? 0) >= LOSSES_BEFORE_LOCK;

  return {
    isContested: (id) => losses.has(id),
    mustLock,
    forget: (id) => void losses.delete(id),
    note(ids, lost) {
      for (const id of ids) if (!lost.has(id)) losses.delete(id);
      const resting = new Set<string>();
      let most = 0;
      for (const id of lost) {
        const count = (losses.get(id) ?? 0) + 1;
        losses.set(id, count);
        if (count <= LOSSES_AT_ONCE || mustLock(id)) continue;
        resting.add(id);
        most = Math.max(most, count);
      }
      return { resting, pause: random() * Math.min(2 ** (most - LOSSES_AT_ONCE), MAX_PAUSE) };
    },
  };
}
