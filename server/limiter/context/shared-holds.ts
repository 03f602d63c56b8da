/** The knowledge and the work that the callers of one process share about the holds of keys. */
import type { Row } from "../../../core/rows/row.js";
import type { Hold } from "../../../core/rows/hold.js";

/** A hold that gives its tokens back when it lapses. */
export interface Lapse {
  readonly hold: Hold;
  /** The marker of the id; `null` where the marker is forgotten. */
  readonly mark: Row | null;
  readonly onceFor: number;
}

/** The maps that the callers of one process share. */
export interface SharedHolds {
  /** By the row that adds up the holds of a key: the work that ends its lapsed holds. */
  readonly ending: Map<string, Promise<boolean>>;
  /** By the same row: the lapses of its holds, and the state of the row when the lapses were read. */
  readonly ahead: Map<string, { sum: Row; lapses: Promise<readonly Lapse[]> }>;
}

export function createSharedHolds(): SharedHolds {
  return { ending: new Map(), ahead: new Map() };
}
