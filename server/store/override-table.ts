/**
 * The seam of overrides: a small table beside the rows of limits, with a few rows per limit, or per
 * limit and key. The limiter keeps the whole table in memory, reads the changes now and then, and decides by
 * its copy. So a store only keeps texts and numbers, and does not know what they mean.
 */

import type { Call } from "./call.js";

/** A row of the table. */
export interface OverrideRow {
  /** The limit. */
  name: string;
  /** The key that the override is for; `""` for all keys of the limit. */
  key: string;
  /** The rule that counts instead of the limit's config: JSON, at most 1,000 characters, ASCII. */
  rule: string;
  /**
   * When the override ends, epoch ms; `MAX_RETRY_AFTER` for never. Always a number, because not every
   * driver can send a null.
   */
  until: number;
  /** When the override was set, epoch ms. */
  setAt: number;
}

/** Rows of one key, or of all keys (`""`). */
export interface OverrideRowIds {
  /** The names of the rows, at most 8. */
  names: readonly string[];
  /** The key that the overrides are for; `""` for all keys of the limit. */
  key: string;
}

/** The longest `rule`. The column has this length where the database wants a bound. */
export const MAX_RULE = 1000;

/**
 * The name of the table of overrides, in the style of the name `limits`: `RateLimitOverride`, or
 * `rate_limit_override`.
 */
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
 * store that retries after conflicts stops when `call` has timed out. Otherwise a write that has failed
 * for its caller could replace the caller's next write.
 */
export interface OverrideTable {
  /** All rows, in any order. The rows include every row that was written before the call. */
  read(call?: Call): Promise<OverrideRow[]>;
  /**
   * The rows with one of these names, at most 8, and exactly this key, as far as they exist. Optional:
   * without `readOf`, each change of an override reads all rows.
   */
  readOf?(names: readonly string[], key: string, call?: Call): Promise<OverrideRow[]>;
  /**
   * At most `limit` rows that come after the row `after`, or the first rows of the table, in an order
   * that stays the same. Optional: without `readPage`, all rows are read at once.
   */
  readPage?(
    after: Pick<OverrideRow, "name" | "key"> | undefined,
    limit: number,
    call?: Call,
  ): Promise<OverrideRow[]>;
  /**
   * The rows whose `setAt` is at least `since`, and the number of all rows, as of one instant. If the
   * number is not what the reader expects, rows were deleted. Optional: without `readChanges`, a
   * process reads all rows every few seconds.
   */
  readChanges?(since: number, call?: Call): Promise<{ rows: OverrideRow[]; count: number }>;
  /**
   * The rows as a transaction of the caller sees them. The read goes by the connection of the
   * transaction, because a read by another connection may have to wait for the transaction. Rejects
   * with a conflict as the database reports it. Optional: without `readWithin`, calls in transactions
   * use `read`.
   *
   * @param of only these rows are needed, see `readOf`.
   */
  readWithin?(tx: unknown, of?: OverrideRowIds): Promise<OverrideRow[]>;
  /**
   * Inserts or replaces a row in a transaction of the caller. If `row` has no `rule`, deletes the row
   * with its name and key instead. Resolves with true after a write, and with whether there was a row
   * after a deletion. Rejects like `readWithin`. Optional: without `writeWithin`, no override can be
   * changed in a transaction.
   */
  writeWithin?(
    tx: unknown,
    row: OverrideRow | (Pick<OverrideRow, "name" | "key"> & { rule?: undefined }),
  ): Promise<boolean>;
  /** Inserts a row, or replaces the row with the same name and key, in one atomic step. */
  write(row: OverrideRow, call?: Call): Promise<void>;
  /** Deletes a row. Resolves with whether there was one. */
  remove(name: string, key: string, call?: Call): Promise<boolean>;
  /** Deletes the rows whose `until` is at most `before`. Resolves with the number of deleted rows. */
  removeEnded(before: number, call?: Call): Promise<number>;
}
