/** Pieces of SQL that the statements of PostgreSQL share. */
import type { RowId } from "../store.js";

/**
 * How long a single statement may wait for one row, ms. Less than `deadlock_timeout`, so that the
 * statement gives way before PostgreSQL looks for a victim, which could be the application's.
 */
export const LOCK_WAIT = 100;
/**
 * SQL that bounds the waits of the transaction in which it is evaluated; of the statement, if it
 * runs alone. Its value is a text that is not empty.
 */
export const patience = (ms: number) => `set_config('lock_timeout', '${ms}', true)`;

export const ID = `"name", "key", "shard"`;
/** The columns of the table. They are named everywhere, because some clients refuse `*`. */
export const STATE = `${ID}, "value", "ts"`;
/** A list of columns, each with the name of its table. */
export const of = (table: string, columns: string) =>
  columns.replaceAll(/"\w+"/g, (column) => `${table}.${column}`);
export const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

export function idParams(rows: readonly RowId[]): unknown[] {
  return [rows.map(({ name }) => name), rows.map(({ key }) => key), rows.map(({ shard }) => shard)];
}
