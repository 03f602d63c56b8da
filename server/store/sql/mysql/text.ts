/**
 * Names and keys in a form that MySQL does not mix up, and lists of them. MySQL's binary collation
 * compares bytes, but pads the shorter string with spaces. So a mark is appended to a string that ends
 * in a space, or in the mark itself.
 */
import type { RowId } from "../../store.js";
import type { SqlRow } from "../driver.js";
import { createFormula } from "../formula.js";
import { CLOCK_COLUMN } from "../table/database-clock.js";

/** Unit separator: not a space, and unlikely in a key. */
const MARK = "\u001F";

export function storedText(text: string): string {
  return text.endsWith(" ") || text.endsWith(MARK) ? text + MARK : text;
}

export function shownText(stored: string): string {
  return stored.endsWith(MARK) ? stored.slice(0, -MARK.length) : stored;
}

/**
 * The bounds of the texts that begin with `prefix`, which does not end in a space. The collation pads
 * with spaces, so a text whose next character after the prefix is lower than a space comes before the
 * prefix itself. LIKE leaves such texts out where LIKE uses an index.
 */
export function boundsOf(prefix: string): [first: string, last: string] {
  return [`${prefix}\u0001`, prefix + "\u{10FFFF}".repeat(192)];
}

/**
 * The type of a text in a list. Without its character set, the text would have that of the database,
 * and other characters would become "?".
 */
export const TEXT = "VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";

/** A table `i` from one JSON parameter: a list of rows, each a list of values. */
export function jsonTable(columns: readonly string[]): string {
  const parts = columns.map((column, index) => `${column} PATH '$[${index}]'`);
  return `JSON_TABLE(?, '$[*]' COLUMNS (${parts.join(", ")})) AS i`;
}

/** UTC, so that no change of the hour matters. */
export const CLOCK =
  "CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS DOUBLE) / 1000 " +
  `AS ${CLOCK_COLUMN}`;

export const FORMULA = createFormula({
  greatest: "GREATEST",
  zero: "0",
  floor: (quotient) => `FLOOR(${quotient})`,
});

export const ID = "`name`, `key`, `shard`";
/** The columns of the table. Statements name the columns everywhere, because some clients refuse `*`. */
export const STATE = `${ID}, \`used\`, \`ts\``;

/**
 * The columns of a result. The numbers are texts that have all of their digits: `mysql2` misreads
 * some doubles of 17 digits by the last bit, and then no guard would ever be true.
 */
export const shownState = (prefix = ""): string =>
  [
    ...["`name`", "`key`", "`shard`"].map((column) => prefix + column),
    ...["`used`", "`ts`"].map((column) => `CAST(${prefix}${column} AS CHAR) AS ${column}`),
  ].join(", ");

export const SAME_ROW = "t.`name` = i.`name` AND t.`key` = i.`key` AND t.`shard` = i.`shard`";

/**
 * A table `t` whose rows are found by the primary key, which has to be forced wherever rows may be
 * locked: in a small table, the planner would read all rows, and InnoDB locks every row that is read.
 */
export const byPrimary = (table: string): string => `${table} AS t FORCE INDEX (PRIMARY)`;

export const ID_COLUMNS = [`\`name\` ${TEXT}`, `\`key\` ${TEXT}`, "`shard` INT"];

export function shownRows(rows: readonly SqlRow[]): SqlRow[] {
  return rows.map(({ name, key, ...rest }) =>
    name === null
      ? { name, key, ...rest }
      : { name: shownText(name as string), key: shownText(key as string), ...rest },
  );
}

export function idValues({ name, key, shard }: RowId): [string, string, number] {
  return [storedText(name), storedText(key), shard];
}
