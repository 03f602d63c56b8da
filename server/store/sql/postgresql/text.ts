/** Pieces of SQL that the statements of PostgreSQL share. */
import type { Row } from "../../../../core/rows/row.js";
import type { RowId } from "../../store.js";
import type { SqlRow } from "../driver.js";
import { createFormula } from "../formula.js";
import type { PostgresqlEngine } from "./engines.js";
import { CLOCK_COLUMN } from "../table/database-clock.js";

/**
 * How long a single statement may wait for one row, ms. Less than `deadlock_timeout`, so that the
 * statement gives way before PostgreSQL looks for a victim, which could be a transaction of the
 * application.
 */
export const LOCK_WAIT = 100;
/**
 * SQL that bounds the waits of the transaction in which the SQL is evaluated, or of the statement if
 * the statement runs alone. The value is a text that is not empty.
 */
export const patience = (ms: number) => `set_config('lock_timeout', '${ms}', true)`;

export const ID = `"name", "key", "shard"`;
/** The columns of the table. Statements name the columns everywhere, because some clients refuse `*`. */
export const STATE = `${ID}, "used", "ts"`;
/** A bigint and no double, because `extra_float_digits` can round a double to a day. */
export const CLOCK = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "${CLOCK_COLUMN}"`;

export const FORMULA = createFormula({
  greatest: "GREATEST",
  zero: "0",
  floor: (quotient) => `floor(${quotient})`,
});

/** A list of columns, each with the name of its table. */
export const of = (table: string, columns: string) =>
  columns.replaceAll(/"\w+"/g, (column) => `${table}.${column}`);

/**
 * Two doubles in a result, as their bits in hexadecimal digits. The decimal digits of a double can be
 * rounded: `extra_float_digits` shortens them, and `pg` misreads most doubles if it has the option
 * `binary` (1,943 of 2,000).
 */
export const shownBits = (first: string, second: string) =>
  `encode(float8send(${first}) || float8send(${second}), 'hex') AS "state"`;
const SHOWN_BITS = shownBits('t."used"', 't."ts"');

/** The state of a row `t` in a result. */
export function shownColumns({ showsBits }: PostgresqlEngine): string {
  return showsBits ? SHOWN_BITS : `t."used", t."ts"`;
}

const bits = new DataView(new ArrayBuffer(16));

/** The state in a row of a result, in either form. */
export function shownState({ state, used, ts }: SqlRow): Row {
  if (typeof state !== "string") return { used: Number(used), ts: Number(ts) };
  for (let i = 0; i < 4; i++) {
    bits.setUint32(4 * i, Number.parseInt(state.slice(8 * i, 8 * i + 8), 16));
  }
  return { used: bits.getFloat64(0), ts: bits.getFloat64(8) };
}

export const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

/**
 * The types to which arrays are unnested, by the name of the column in SQL. Other columns are doubles.
 */
const TYPES: Record<string, string> = {
  '"name"': "text",
  '"key"': "text",
  '"shard"': "int",
  '"group"': "int",
};

/**
 * The rows of array parameters, from `$1` on, as a table `i` with these columns. A subquery hides the
 * number of rows from the planner. Otherwise the planner would plan a prepared statement again for each
 * number of rows (0.5 ms).
 */
export function rowsFrom(columns: string): string {
  const names = columns.split(", ");
  const arrays = names.map((name, n) => `$${n + 1}::${TYPES[name] ?? "float8"}[] AS a${n}`);
  const lists = names.map((_, n) => `p.a${n}`);
  return `(SELECT ${arrays.join(", ")} OFFSET 0) AS p, unnest(${lists.join(", ")}) AS i(${columns})`;
}

/**
 * A condition that is always true, and that the planner takes to be expensive. So the planner looks
 * rows up by the primary key even in a table of two rows. A prepared statement keeps its plan when the
 * table grows, until the next ANALYZE. Without the condition, a read of 16 rows took 170 ms, because
 * all 200,000 rows of the table were read.
 */
const BY_KEY = `(SELECT count(*) FROM generate_series(1, t."shard" - t."shard")) = 0`;

/**
 * `BY_KEY`, if the engine takes a subquery everywhere. Engines other than PostgreSQL may refuse the
 * subquery.
 */
export function byKey({ isPostgresql }: PostgresqlEngine): string {
  return isPostgresql ? BY_KEY : "true";
}

/**
 * A text that locks rows, as the engine accepts it. Without NOWAIT, waits are bounded anyway.
 *
 * @param isAlone whether the statement is not part of a transaction. A transaction may be Serializable.
 */
export function lockingText(
  { skipsWhenSerializable }: PostgresqlEngine,
  isAlone: boolean,
  text: string,
): string {
  return skipsWhenSerializable || isAlone ? text : text.replace(/ SKIP LOCKED| NOWAIT/g, "");
}

/** The row `t` of the first three parameters. */
export const ONE_ROW = `t."name" = $1 AND t."key" = $2 AND t."shard" = $3`;

/** Another condition that is always true: the planner takes it to hold for one row of a list `i`. */
export const FEW = `i."shard" % 1 = 0`;

export function idParams(rows: readonly RowId[]): unknown[] {
  return [rows.map(({ name }) => name), rows.map(({ key }) => key), rows.map(({ shard }) => shard)];
}
