/** A page of rows that are to be pruned, as a dialect puts it into its statements. */
import type { SqlConnection } from "./driver.js";
import type { Connection } from "./connection.js";
import type { Formula } from "./formula.js";

/** A statement under construction. Each method adds a parameter and returns its placeholder. */
export interface Params {
  readonly values: unknown[];
  text(value: string): string;
  number(value: number): string;
}

/** @param place the placeholder of the parameter with this number, from 1 on. */
export function createParams(place: (index: number) => string, number = place): Params {
  const values: unknown[] = [];
  return {
    values,
    text: (value) => place(values.push(value)),
    number: (value) => number(values.push(value)),
  };
}

/** Conditions on a row `t`, made anew for each place of a statement that needs them. */
export interface Page {
  /** The row is in the page. */
  isIn(params: Params): string;
  hasName(params: Params): string;
  isFull(params: Params): string;
}

/** How a dialect prunes. */
export interface Pruning {
  readonly formula: Formula;
  params(): Params;
  /** A name as the table has it. @default as it is */
  stored?(name: string): string;
  /**
   * Holds for the rows of a name after a key, and perhaps for rows of later names.
   * @default for the rows of the name alone
   */
  isBeyond?(made: Params, name: string, after: string | undefined): string;
  /**
   * Deletes the full rows of a page. Resolves with the number of deleted rows.
   *
   * @param table quoted.
   */
  remove(connection: Connection, table: string, page: Page): Promise<number>;
}

/** Looks for a full row without a lock. */
export async function hasFullRows(
  made: Params,
  connection: SqlConnection,
  table: string,
  { isIn, isFull }: Page,
): Promise<boolean> {
  const text = `SELECT 1 AS found FROM ${table} AS t WHERE ${isIn(made)} AND ${isFull(made)} LIMIT 1`;
  return (await connection.query(text, made.values)).length > 0;
}
