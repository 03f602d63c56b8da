/** Checks whether the table of overrides exists, if the application uses overrides. */
import { DIALECTS } from "../../server/store/sql/dialects.js";
import { OVERRIDES } from "../../server/store/sql/table/catalog.js";
import { checkTable } from "../../server/store/sql/table/check-table.js";
import { DatabaseClock } from "../../server/store/sql/table/database-clock.js";
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { overridesBeside } from "../../server/store/sql/override-table.js";
import type { TableName } from "../../server/store/sql/sql.js";
import { TableError } from "../../server/store/sql/table/table-error.js";
import { findOurTable, findOverridesTable } from "../init/facts/drizzle-schema.js";
import { runnerIn } from "../init/facts/package-manager.js";
import { findOurModel, findOverridesModel } from "../init/facts/prisma-schema.js";
import { commandOf, packagedOverridesSql } from "../table-sql.js";
import { envFileToLoad } from "./database-url.js";
import { failure, type Finding, ok } from "./finding.js";
import type { Places } from "./places.js";
import { readSources } from "./sources.js";

/** @param limits the table of the limits. */
export async function checkOverrides(
  { root, schema }: Pick<Places, "root" | "schema">,
  dialect: DialectName,
  connection: SqlConnection,
  limits: TableName,
): Promise<Finding[]> {
  if (!(await usesOverrides(root))) return [];
  const named = await findNamed(schema);
  const table = await overridesOf(schema, limits);
  try {
    await checkTable(DIALECTS[dialect], connection, table, new DatabaseClock(), OVERRIDES);
    return [ok("overrides", `table "${table.name}" is one of overrides`)];
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const { reason, fact, message } = error;
    if (reason === "missing") {
      const advice = await missingAdvice(schema, dialect, named !== undefined);
      return [failure("overrides-missing", `overrides: true is set, and ${fact}`, advice)];
    }
    const advice = "migrate it to the columns, the key and the collations of docs/table.md";
    return [failure(`overrides-${reason}`, message, advice)];
  }
}

/** The table of overrides of these limits, as in the schema. */
export async function overridesOf(schema: string, limits: TableName): Promise<TableName> {
  const named = await findNamed(schema);
  const beside = overridesBeside(limits);
  return named === undefined ? beside : { ...beside, name: named };
}

async function findNamed(schema: string): Promise<string | undefined> {
  return (await findOverridesModel(schema)) ?? (await findOverridesTable(schema));
}

const LIMITER = /\bcreateRateLimiter\s*[(<]/;

/** Whether a file makes a limiter and has `overrides: true`, which is then an option of the limiter. */
export async function usesOverrides(root: string): Promise<boolean> {
  for (const text of (await readSources(root)).values()) {
    if (LIMITER.test(text) && /\boverrides\s*:\s*true\b/.test(text)) return true;
  }
  return false;
}

async function missingAdvice(
  root: string,
  dialect: DialectName,
  isInSchema: boolean,
): Promise<string> {
  const run = await runnerIn(root);
  const add = isInSchema ? "" : "add it to the schema, as docs/table.md shows, and ";
  if ((await findOurModel(root)) !== undefined) {
    return `${add}run ${run} prisma migrate dev, or ${run} prisma db push`;
  }
  if ((await findOurTable(root)) !== undefined) {
    return `${add}run ${run} drizzle-kit push, or generate and migrate`;
  }
  const sql = packagedOverridesSql(dialect);
  return `run the SQL that makes it: ${commandOf(dialect, sql, await envFileToLoad(root))}`;
}
