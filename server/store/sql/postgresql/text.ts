/** Pieces of SQL that the statements of PostgreSQL share. */
import type { RateLimitState } from "../../../../core/calculate.js";
import type { RowId } from "../../store.js";
import type { SqlRow } from "../driver.js";

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

/** The state of a row `t` in a result: the columns themselves. */
export const SHOWN_DOUBLES = `t."value", t."ts"`;
/**
 * Two doubles in a result, as the bits of both, in hexadecimal digits, because the digits of a double can be
 * rounded: `extra_float_digits` shortens them, and `pg` misreads most doubles if it has the option
 * `binary` (1,943 of 2,000). CockroachDB knows these functions and cannot run them.
 */
export const shownBits = (first: string, second: string) =>
  `encode(float8send(${first}) || float8send(${second}), 'hex') AS "state"`;
export const SHOWN_BITS = shownBits('t."value"', 't."ts"');

const bits = new DataView(new ArrayBuffer(16));

/** The state in a row of a result, in either form. */
export function shownState({ state, value, ts }: SqlRow): RateLimitState {
  if (typeof state !== "string") return { value: Number(value), ts: Number(ts) };
  for (let i = 0; i < 4; i++) {
    bits.setUint32(4 * i, Number.parseInt(state.slice(8 * i, 8 * i + 8), 16));
  }
  return { value: bits.getFloat64(0), ts: bits.getFloat64(8) };
}

export const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

/** What a list of arrays is unnested to, by the name of the column in SQL. */
const TYPES: Record<string, string> = {
  '"name"': "text",
  '"key"': "text",
  '"shard"': "int",
  '"group"': "int",
};

/**
 * The rows of array parameters, from `$1` on, as a table `i` with these columns. A subquery hides
 * the number of rows from the planner. Otherwise it would plan a prepared statement again for each
 * number of rows (0.5 ms).
 */
export function rowsFrom(columns: string): string {
  const names = columns.split(", ");
  const arrays = names.map((name, n) => `$${n + 1}::${TYPES[name] ?? "float8"}[] AS a${n}`);
  const lists = names.map((_, n) => `p.a${n}`);
  return `(SELECT ${arrays.join(", ")} OFFSET 0) AS p, unnest(${lists.join(", ")}) AS i(${columns})`;
}

/**
 * A condition that is always true, and that the planner takes to be dear. So it looks rows up by the
 * primary key even in a table of two rows. A prepared statement keeps its plan when the table grows,
 * until the next ANALYZE: reading all rows of 200,000 took 170 ms for 16 rows.
 */
export const BY_KEY = `(SELECT count(*) FROM generate_series(1, t."shard" - t."shard")) = 0`;

/** Another one: the planner takes it to hold for one row of a list `i`. */
export const FEW = `i."shard" % 1 = 0`;

export function idParams(rows: readonly RowId[]): unknown[] {
  return [rows.map(({ name }) => name), rows.map(({ key }) => key), rows.map(({ shard }) => shard)];
}
