/**
 * The symbols with which Drizzle marks its objects. The symbols are global, and the same in every copy
 * and version of `drizzle-orm`. This package imports no `drizzle-orm`: in a monorepo, an import from here
 * may find another version, or none.
 */
export const entityKind = Symbol.for("drizzle:entityKind");
const NAME = Symbol.for("drizzle:Name");
const SCHEMA = Symbol.for("drizzle:Schema");
const COLUMNS = Symbol.for("drizzle:Columns");
const IS_TABLE = Symbol.for("drizzle:IsDrizzleTable");

/** A table of Drizzle, structurally. */
export interface DrizzleTableLike {
  /** A property of the types alone. */
  readonly _: { readonly brand: "Table" };
}

export interface DrizzleTableParts {
  name: string;
  schema: string | undefined;
  /** The names of the table's columns in the database. */
  columns: ReadonlySet<string>;
}

/** @returns `undefined` for anything else than a table. */
export function tablePartsOf(table: unknown): DrizzleTableParts | undefined {
  const marks = Object(table) as Record<symbol, unknown>;
  const { [NAME]: name, [SCHEMA]: schema, [COLUMNS]: columns } = marks;
  if (marks[IS_TABLE] !== true || typeof name !== "string") return undefined;
  const all = Object.values(Object(columns) as Record<string, { name: string }>);
  return {
    name,
    schema: typeof schema === "string" ? schema : undefined,
    columns: new Set(all.map((column) => column.name)),
  };
}
