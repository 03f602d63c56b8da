/**
 * Checks the engine, the session and the table before the first decision, and says what is wrong and
 * what to do. The check is one statement per store, which also reads the database's clock. Without the
 * check, a wrong table would show itself late: as an error of a statement that few people know, or not
 * at all.
 */
import type { Dialect } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import type { TableName } from "../sql.js";
import { type Catalog, type FoundTable, LIMITS, type TableShape } from "./catalog.js";
import { checkEngine } from "./check-engine.js";
import type { DatabaseClock } from "./database-clock.js";
import { TableError } from "./table-error.js";

/**
 * @param isAlone whether the connection runs single statements, and no transaction of the application.
 * @returns what the database reports as its version.
 * @throws EngineError
 * @throws TableError
 */
export async function checkTable(
  { catalog, mark }: Pick<Dialect, "catalog" | "mark">,
  connection: SqlConnection,
  table: TableName,
  clock: DatabaseClock,
  shape: TableShape = LIMITS,
  isAlone = true,
): Promise<string> {
  const report = `${catalog.report ?? catalog.version} AS ${mark}version${mark}`;
  const query = async (text: string, params: readonly unknown[]) => {
    const learn = clock.due();
    const columns = learn ? `${report}, ${catalog.clock}` : report;
    const rows = await connection.query(text.replace("{more}", columns), params);
    learn?.(rows);
    return rows;
  };
  const found = await catalog.lookUp(query, table, shape, isAlone).catch(async (error: unknown) => {
    // An engine may speak the language of another engine without its catalogs, and an old SQLite lacks
    // the operator that it is asked for. So ask for the version alone.
    if (error instanceof TableError) throw error;
    const asked = `SELECT ${catalog.version} AS ${mark}version${mark}`;
    const rows = await connection.query(asked, []).catch(() => []);
    checkEngine(catalog, String(rows[0]?.["version"]));
    throw error;
  });
  if (found.version !== undefined) checkEngine(catalog, found.version);
  for (const check of CHECKS) check({ ...found, table, shape, catalog });
  return found.version ?? "";
}

interface Checked extends FoundTable {
  table: TableName;
  shape: TableShape;
  catalog: Catalog;
}

/** The checks, in the order in which they are reported. Each check throws a `TableError`. */
const CHECKS: readonly ((checked: Checked) => void)[] = [
  checkThatItExists,
  checkColumns,
  checkCollations,
  checkDoubles,
  checkKey,
];

function checkThatItExists({ columns, elsewhere, searched, table, catalog }: Checked): void {
  if (columns.length > 0) return;
  const fact = `table "${table.name}" does not exist in ${searched}`;
  if (elsewhere.length === 0) {
    throw new TableError("missing", fact, missingTableHint(table, catalog));
  }
  throw new TableError(
    "elsewhere",
    fact,
    `there is one in ${elsewhere.join(", ")}: name its schema by @@schema on the model, by ` +
      "the adapter's or the store's option schema, or add it to the search_path",
  );
}

function checkColumns({ columns, searched, table, shape }: Checked): void {
  const missing = shape.columns.filter((name) => !columns.some((column) => column.name === name));
  if (missing.length === 0) return;
  const shown = `table "${table.name}" in ${searched}`;
  if (missing.length < shape.columns.length / 2) {
    const others = columns.map(({ name }) => name).filter((name) => !shape.columns.includes(name));
    const found = others.length === 0 ? "" : `; it has ${others.join(", ")}`;
    throw new TableError(
      "columns",
      `${shown} has no column ${missing.join(", ")}${found}`,
      columnsHint(table),
    );
  }
  throw new TableError(
    "foreign",
    `${shown} is not a table of ${shape.of}: it has no column ` +
      `${missing.join(", ")}; another package may use this name, so give the model of the ` +
      "limits another one, and name it by the option model (or table); if the table is yours, " +
      columnsHint(table),
  );
}

function checkDoubles({ columns, table, shape, catalog }: Checked): void {
  for (const { name, type } of columns) {
    if (!shape.doubles.includes(name) || catalog.double.test(type)) continue;
    throw new TableError(
      "type",
      `column ${name} of table "${table.name}" has the type ${type}; it must be a double`,
    );
  }
}

function checkCollations({ columns, table }: Checked): void {
  for (const { name, collation, folds } of columns) {
    if (!folds || (name !== "name" && name !== "key")) continue;
    throw new TableError(
      "collation",
      `column ${name} of table ${table.name} has the collation ${collation}, under which ` +
        "different keys are one bucket; give it a binary one, as in the package's migrations",
    );
  }
}

function checkKey({ lacksKey, table, shape }: Checked): void {
  if (lacksKey === undefined) return;
  const key = shape.key.join(", ");
  throw new TableError(
    "key",
    `table "${table.name}" has no ${lacksKey} on exactly (${key}), without which a bucket could ` +
      `have several rows; delete its rows, and ADD PRIMARY KEY (${key}), as in the ` +
      "package's migrations",
  );
}

/** Says what to do about a missing table, by the way in which the application makes its tables. */
export function missingTableHint(
  { name, madeBy }: TableName,
  { migrations }: Pick<Catalog, "migrations">,
): string {
  if (madeBy === "Prisma") {
    return `the model of table "${name}" must be in the Prisma schema, and migrated`;
  }
  if (madeBy === "Drizzle") {
    return `table "${name}" must be in the Drizzle schema, as in docs/drizzle.md, and pushed or migrated`;
  }
  const isUsual = name === "RateLimit" || name === "RateLimitOverride";
  const renamed = isUsual ? "" : `with "${name}" in place of "RateLimit", `;
  return (
    `create it by the SQL in node_modules/trpc-rate-limit/${migrations}, ${renamed}` +
    "or by a migration of your own with the same columns"
  );
}

/** Says what to do about a table of the package whose columns have other names. */
function columnsHint({ madeBy }: TableName): string {
  if (madeBy === "Prisma") return "take @map off its fields, and migrate";
  if (madeBy === "Drizzle") {
    return (
      "name its columns in the Drizzle schema, as in docs/drizzle.md, because `casing` renames those " +
      'without a name of their own: setAt: doublePrecision("setAt"). Then push or migrate'
    );
  }
  return (
    "rename the columns, or add them, as in the package's migrations. " +
    "Prisma's @map and Drizzle's `casing` give columns other names"
  );
}
