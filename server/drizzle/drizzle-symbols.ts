/**
 * What Drizzle marks its objects with. They are global symbols, the same in every copy and version of
 * `drizzle-orm`. The package imports none: in a monorepo, it may stand where another version is
 * found, or none.
 */
export const entityKind = Symbol.for("drizzle:entityKind");
const NAME = Symbol.for("drizzle:Name");
const SCHEMA = Symbol.for("drizzle:Schema");
const COLUMNS = Symbol.for("drizzle:Columns");
const IS_TABLE = Symbol.for("drizzle:IsDrizzleTable");

/** A table of Drizzle, structurally. */
export interface DrizzleTableLike {
  /** What only its types have. */
  readonly _: { readonly brand: "Table" };
}

export interface DrizzleTableParts {
  name: string;
  schema: string | undefined;
  /** The names of its columns in the database. */
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
