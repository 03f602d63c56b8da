/** Pieces of SQL that the dialects share. */
import type { Row } from "../../../core/rows/row.js";
import { type FoundRow, rowKey, type RowId } from "../store.js";
import type { SqlRow } from "./driver.js";

/** An identifier in double quotes, as SQLite and PostgreSQL have them, or in MySQL's backticks. */
export function quoted(identifier: string, mark: '"' | "`" = '"'): string {
  return mark + identifier.replaceAll(mark, mark + mark) + mark;
}

/** A table, not quoted. */
export interface TableName {
  name: string;
  /** Without a schema, the database looks the table up as it does for any statement. */
  schema?: string | undefined;
  /** How an application makes the table with this store, for messages. @default in SQL */
  madeBy?: "Prisma" | "Drizzle" | undefined;
  /** The table of overrides. @default in the same schema, see `overridesName` */
  overrides?: Pick<TableName, "name" | "schema"> | undefined;
}

export function quotedTable({ schema, name }: TableName, mark: '"' | "`" = '"'): string {
  return schema === undefined
    ? quoted(name, mark)
    : `${quoted(schema, mark)}.${quoted(name, mark)}`;
}

/** The row that has these columns of the table. */
export function rowIdOf({ name, key, shard }: SqlRow): RowId {
  return { name: name as string, key: key as string, shard: Number(shard) };
}

function storedState({ used, ts }: SqlRow): Row {
  return { used: Number(used), ts: Number(ts) };
}

/**
 * The states of rows that have the table's columns, by `rowKey`. A row of nulls only carries the
 * database's clock.
 *
 * @param stateOf reads the state of a row. @default from the columns themselves
 */
export function statesOf(
  rows: readonly SqlRow[],
  stateOf: (row: SqlRow) => Row = storedState,
): Map<string, Row> {
  const states = new Map<string, Row>();
  for (const row of rows) {
    if (row["name"] === null) continue;
    states.set(rowKey(rowIdOf(row)), stateOf(row));
  }
  return states;
}

/** Rows that have the table's columns. @param stateOf as for {@link statesOf} */
export function rowsFound(
  rows: readonly SqlRow[],
  stateOf: (row: SqlRow) => Row = storedState,
): FoundRow[] {
  return rows.map((row) => ({ row: rowIdOf(row), state: stateOf(row) }));
}

export function idsOf(rows: readonly SqlRow[]): Set<string> {
  return new Set(rows.map((row) => rowKey(rowIdOf(row))));
}
