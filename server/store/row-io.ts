/** What a database has to offer for a store to be built on it. */
import type { RateLimitState } from "../../core/calculate.js";
import type { WriteGroup } from "./plan.js";
import type { RowId } from "./store.js";

export interface Statements {
  /** The rows that exist, by `rowKey`, as one consistent snapshot. */
  read(rows: readonly RowId[]): Promise<Map<string, RateLimitState>>;
  /**
   * Writes each group all or nothing, and only where every row of it still is as it `was`. Outside
   * of somebody else's transaction it never rejects, because one group may have been written when
   * the next one fails.
   */
  write(groups: readonly WriteGroup[], tell?: Tell): Promise<WriteOutcomes>;
}

/** Told what a row of a lost group held, where the database says so anyway. A guess, no more. */
export type Tell = (row: RowId, state: RateLimitState) => void;

/**
 * What became of each group: written, or an error after which it may or may not have been. A group
 * that is missing lost a race: it certainly was not written, and is to be decided again.
 */
export type WriteOutcomes = Map<WriteGroup, "written" | { error: unknown }>;

export interface RowIO extends Statements {
  /**
   * Runs `run` in a transaction whose reads lock what they find and wait for who has locked it, and
   * whose statements throw on conflicts. Absent where a database has no row locks.
   */
  locked?:
    (<TResult>(run: (inside: Statements) => Promise<TResult>) => Promise<TResult>) | undefined;
  /** Whether every batch goes through `locked`, in a transaction that is Serializable. */
  readonly serializable?: boolean;
  /** Whether an error says that others were in the way, so that trying again helps. */
  isConflict(error: unknown): boolean;
  /** How an error is shown to callers. */
  wrap(error: unknown): Error;
  /**
   * Trips under way at once, on rows of their own: one is decided while the database works on the
   * other. For the calls on one row there is still only one trip, and it takes them all.
   */
  readonly maxTrips: number;
}
