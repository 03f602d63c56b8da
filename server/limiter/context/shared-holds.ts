/** What the callers of one process share about the holds of keys. */
import type { Row } from "../../../core/rows/row.js";
import type { Hold } from "../../../core/rows/hold.js";

/** A hold that gives its tokens back when it lapses. */
export interface Lapse {
  readonly hold: Hold;
  /** What the taking has left. `null` where it is forgotten. */
  readonly mark: Row | null;
  readonly onceFor: number;
}

/** What the callers of one process share about holds. */
export interface SharedHolds {
  /** By the row that adds up the holds of a key: ends those that have lapsed. */
  readonly ending: Map<string, Promise<boolean>>;
  /** By that row: what its holds give back, and the row of then. */
  readonly ahead: Map<string, { sum: Row; lapses: Promise<readonly Lapse[]> }>;
}

export function createSharedHolds(): SharedHolds {
  return { ending: new Map(), ahead: new Map() };
}
