/** How a dialect looks a table up in the catalogs of its database, and what the table must be like. */
import type { SqlRow } from "../driver.js";
import type { TableName } from "../sql.js";
import type { Engines } from "./check-engine.js";

/** The parts that a table must have. Both tables of the package are keyed by texts, and hold doubles. */
export interface TableShape {
  columns: readonly string[];
  doubles: readonly string[];
  /** The columns of the primary key, in order. */
  key: readonly string[];
  /** The use of the table, for messages. */
  of: string;
}

export const LIMITS: TableShape = {
  columns: ["name", "key", "shard", "used", "ts"],
  doubles: ["used", "ts"],
  key: ["name", "key", "shard"],
  of: "rate limits",
};

export const OVERRIDES: TableShape = {
  columns: ["name", "key", "rule", "until", "setAt"],
  doubles: ["until", "setAt"],
  key: ["name", "key"],
  of: "overrides of rate limits",
};

export interface Column {
  name: string;
  type: string;
  /** The name of its collation, if it has one, and whether that is known to fold case. */
  collation: string | undefined;
  folds: boolean;
}

export interface FoundTable {
  /** None, if there is no such table. */
  columns: Column[];
  /** The key without which a bucket could have several rows, if the table lacks it. */
  lacksKey?: "primary key" | "unique key" | undefined;
  /** The version that the database reports, if it has such a table. SQLite is not asked. */
  version: string | undefined;
  /** Where the database looked, and other places that have such a table. */
  searched: string;
  elsewhere: string[];
}

export interface Catalog extends Engines {
  /** The SQL of the version that the database reports. */
  readonly version: string;
  /**
   * The SQL that the check of a table asks for in place of the version, where some servers refuse that.
   * @default the same
   */
  readonly report?: string;
  /** The SQL of a column with the database's time: when the statement runs, or began. */
  readonly clock: string;
  /** 64-bit floating point. Other types would round, and then no guard would ever be true. */
  readonly double: RegExp;
  /** Where the package has the SQL that makes its tables. */
  readonly migrations: string;
  /**
   * Looks the table up, in one statement.
   *
   * @param isAlone whether the connection runs single statements, and no transaction of the application.
   * @throws TableError if something is wrong with the database or the session
   */
  lookUp(
    query: CatalogQuery,
    table: TableName,
    shape: TableShape,
    isAlone: boolean,
  ): Promise<FoundTable>;
}

/** @param text with `{more}` where the columns of the version and the clock stand. */
export type CatalogQuery = (text: string, params: unknown[]) => Promise<SqlRow[]>;

export function versionOf([row]: readonly SqlRow[]): string | undefined {
  return row === undefined ? undefined : String(row["version"]);
}

export function columnOf({ name, type, collation }: SqlRow): Omit<Column, "folds"> {
  const collationName = typeof collation === "string" ? collation : undefined;
  return { name: String(name), type: String(type), collation: collationName };
}
