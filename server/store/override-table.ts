/**
 * The seam of overrides: a small table beside the rows of limits, one row per limit, or per limit and
 * key. The limiter keeps the whole table in memory, reads now and then what has changed, and decides by it. So a store
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

/** Whether two rows of one name and key say the same, or both are missing. */
export function isSameOverride(a: OverrideRow | undefined, b: OverrideRow | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.rule === b.rule && a.until === b.until && a.setAt === b.setAt;
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
   * The row of a limit and a key, and the one of all its keys, as far as they are there. Optional:
   * without it, each change of an override reads all rows.
   */
  readOf?(name: string, key: string, call?: Call): Promise<OverrideRow[]>;
  /**
   * At most `limit` rows that come after a row, or the first ones, in an order that stays the same.
   * Optional: without it, all rows are read at once.
   */
  readPage?(
    after: Pick<OverrideRow, "name" | "key"> | undefined,
    limit: number,
    call?: Call,
  ): Promise<OverrideRow[]>;
  /**
   * The rows whose `setAt` is at least `since`, and the number of all rows, as of one instant. A number
   * that the reader did not expect tells it that rows were deleted. Optional: without it, a process
   * reads all rows every few seconds.
   */
  readChanges?(since: number, call?: Call): Promise<{ rows: OverrideRow[]; count: number }>;
  /**
   * The rows as a transaction of the caller sees them, by a connection of its own: a read by another
   * one may have to wait for the transaction. Rejects with a conflict as the database reports it.
   * Optional: without it, calls in transactions use `read`.
   *
   * @param of only these rows are needed, see `readOf`.
   */
  readWithin?(tx: unknown, of?: Pick<OverrideRow, "name" | "key">): Promise<OverrideRow[]>;
  /**
   * Inserts or replaces a row in a transaction of the caller, or deletes the one with this name and key
   * where it has no `rule`. Resolves with whether it is there, or was there before. Rejects like
   * `readWithin`. Optional: without it, no override can be changed in a transaction.
   */
  writeWithin?(
    tx: unknown,
    row: OverrideRow | (Pick<OverrideRow, "name" | "key"> & { rule?: undefined }),
  ): Promise<boolean>;
  /** Inserts a row, or replaces the one with this name and key. One atomic step. */
  write(row: OverrideRow, call?: Call): Promise<void>;
  /** Deletes a row. Resolves with whether there was one. */
  remove(name: string, key: string, call?: Call): Promise<boolean>;
  /** Deletes the rows whose `until` is at most `before`. Resolves with their number. */
  removeEnded(before: number, call?: Call): Promise<number>;
}
