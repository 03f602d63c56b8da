/**
 * The seam of overrides: a small table beside the rows of limits, one row per limit, or per limit and
 * key. The limiter reads the whole table now and then, and decides by what it has read. So a store
 * only keeps texts and numbers here, and knows nothing of what they mean.
 */

import type { Call } from "./call.js";

/** A row of the table. */
export interface OverrideRow {
  /** The limit. */
  name: string;
  /** The key of the rows that it is about; `""` for all keys of the limit. */
  key: string;
  /** What counts instead of the limit's config: JSON, at most 1,000 characters, ASCII. */
  rule: string;
  /**
   * When it ends, epoch ms; `MAX_RETRY_AFTER` for never. A number, because not every driver can send a
   * null.
   */
  until: number;
  /** When it was set, epoch ms. */
  setAt: number;
}

/** The longest `rule`. The column is that long where the database wants a bound. */
export const MAX_RULE = 1000;

/** The name of the table beside a table of limits, in the style of that name. */
export function overridesName(limits: string): string {
  return `${limits}${/[A-Z]/.test(limits) ? "Override" : "_override"}`;
}

/**
 * The overrides of a store. Every method rejects with a `RateLimitStoreError` if the store fails. A
 * store that tries again after conflicts stops when `call` has timed out: what its caller was told to
 * have failed must not replace what the caller wrote next.
 */
export interface OverrideTable {
  /** All rows, in any order. A row that was written before the call is there. */
  read(call?: Call): Promise<OverrideRow[]>;
  /**
   * The rows as a transaction of the caller sees them, by a connection of its own: a read by another
   * one may have to wait for the transaction. Rejects with a conflict as the database reports it.
   * Optional: without it, calls in transactions use `read`.
   */
  readWithin?(tx: unknown): Promise<OverrideRow[]>;
  /**
   * Inserts or replaces a row in a transaction of the caller, or deletes the one with this name and key
   * where it has no `rule`. Resolves with whether it is there, or was there before. Rejects like
   * `readWithin`. Optional: without it, an override and the row that it is about change one after the
   * other.
   *
   * @param seen what `readWithin` has read. Where the transaction reads a snapshot, the row can be
   * another one by now, and the write rejects with a conflict then.
   */
  writeWithin?(
    tx: unknown,
    row: OverrideRow | (Pick<OverrideRow, "name" | "key"> & { rule?: undefined }),
    seen?: readonly OverrideRow[],
  ): Promise<boolean>;
  /** Inserts a row, or replaces the one with this name and key. One atomic step. */
  write(row: OverrideRow, call?: Call): Promise<void>;
  /** Deletes a row. Resolves with whether there was one. */
  remove(name: string, key: string, call?: Call): Promise<boolean>;
  /** Deletes the rows whose `until` is at most `before`. Resolves with their number. */
  removeEnded(before: number, call?: Call): Promise<number>;
}
